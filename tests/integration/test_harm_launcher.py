#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec stopped, dead, without a disk or a directory to write to: the program runs on as fast as before, and
what is missing is counted exactly."""
import concurrent.futures
import os
import shutil
import signal
import subprocess
import time

import harm
import rec

ROUNDS = 40000000  # of `vectors`: half a second or more
AWAY_S = 11  # without a turn of its loop for ten seconds, rec counts as away


def child_of(process):
    """Its only child, once it is there."""
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    while True:
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        if children:
            return children[0]
        time.sleep(0.005)


def cpu_s(pid):
    """CPU time of a process, None once it has ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Launcher(harm.Case):
    def stopped(self, first_s, last_s, engine, *command):
        """A run during which rec stands still between two CPU times of the program, or from the first to its end."""
        self.need_engine(engine)
        directory = self.new_directory()
        process = subprocess.Popen([rec.REC, "-F", str(harm.FAST_HZ), f"--engine={engine}", "--",
                                    *map(str, command)], cwd=directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child = child_of(process)
        self.wait_for_cpu(child, first_s)
        process.send_signal(signal.SIGSTOP)
        begin_s = time.monotonic()
        self.wait_for_cpu(child, last_s)
        stopped_s = time.monotonic() - begin_s
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=rec.TIMEOUT_S)
        done = subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
        self.assertEqual(done.returncode, 0, stderr)
        run = rec.Run(done, directory, 0)
        run.stopped_s = stopped_s
        return run

    @staticmethod
    def wait_for_cpu(pid, seconds):
        used_s = cpu_s(pid)
        while used_s is not None and used_s < seconds:
            time.sleep(0.01)
            used_s = cpu_s(pid)

    def assert_accounts_close(self, run):
        notes = run.summary
        self.assertEqual(run.count("produced"), run.count("samples") + run.count("lost.ring-full"), notes)
        self.assertEqual(run.count("lost.other"), 0, notes)
        self.assert_within(run.count("cpu_seen_ns") / run.count("cpu_billed_ns"), 1, 0.02, notes)

    def test_samples_that_a_stopped_rec_missed_are_counted(self):
        """Stacks so deep that also 200 samples a second fill a ring meanwhile."""
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.stopped(0.3, 1.3, engine, rec.target("depth"), 500, 1500)
                self.assert_accounts_close(run)
                self.assertGreater(run.count("lost.ring-full"), 0, run.summary)
                if run.stopped_s < AWAY_S - 2:  # a busy machine takes longer for a second of CPU time
                    self.assertEqual(run.count("lost.away"), 0, run.summary)

    def at_once(self, *checks):
        """All beside each other, for both engines: each mostly waits."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in [pool.submit(check, engine) for check in checks for engine in rec.ENGINES]:
                done.result()

    def check_long_stop(self, engine):
        run = self.stopped(0.2, 1, engine, rec.target("depth"), 20, 1200, AWAY_S * 1000)
        self.assert_accounts_close(run)
        self.assertGreater(run.count("lost.away"), 0, run.summary)
        self.assertGreater(run.share_of("[lost]"), 5, run.summary)
        self.assertLess(run.share_of("[exit]"), 5, run.summary)
        self.assertIn(b"rec was stopped", run.stderr)

    def test_a_rec_that_is_away_for_more_than_ten_seconds(self):
        """Time while rec is stopped is called lost; a signal costs next to nothing after rec has died; timers end
        with the next thread."""
        self.at_once(self.check_long_stop, self.check_forsaken, self.check_orphan)

    def test_a_stopped_rec_does_not_slow_the_program_down(self):
        command = (rec.target("vectors"), ROUNDS)
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                # The better of two: a busy machine spoils one.
                running_ns = min(self.under(engine, *command).count("cpu_billed_ns") for _ in range(2))
                stopped_ns = min(self.stopped(0.1, 60, engine, *command).count("cpu_billed_ns")
                                 for _ in range(2))
                self.assertLess(stopped_ns, 1.1 * running_ns)

    def check_forsaken(self, engine):
        """No walk and no record, a signal a tick: with a tick of 4 ms and 5 us a signal 0.12 %. A thread that goes
        from one processor to another meets the ticks of both."""
        self.need_engine(engine)
        process = subprocess.Popen([rec.REC, "-q", "-F", str(harm.FAST_HZ), f"--engine={engine}", "--",
                                    rec.target("forsaken")], cwd=self.new_directory(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "started\n")
        process.kill()
        process.wait()
        records, signals, ticks = map(int, process.stdout.readline().split())
        process.stdout.close()
        self.assertEqual(records, 0)
        self.assertLess(signals, 2 * ticks)
        if engine == "timer":
            self.assertGreater(signals, 0)  # they were counted

    def check_orphan(self, engine):
        if not os.path.exists("/proc/self/timers"):
            self.skipTest("this kernel does not list a process' timers")
        self.need_engine(engine)
        process = subprocess.Popen([rec.REC, "-q", f"--engine={engine}", "--", rec.target("orphan")],
                                   cwd=self.new_directory(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "started\n")
        process.kill()
        process.wait()
        self.assertEqual(process.stdout.readline(), "1, then 0\n")
        process.stdout.close()


class Output(harm.Case):
    def test_a_directory_that_is_removed_meanwhile(self):
        for status, seen in ((0, 125), (3, 3)):
            directory = self.new_directory()
            run = self.watched([rec.REC, "--", "sh", "-c", f"rm -r '{directory}'; echo done; exit {status}"],
                               directory)
            self.assertEqual((run.status, run.stdout), (seen, b"done\n"), run.stderr)
            self.assertIn(b"rec.data", run.stderr)

    def test_a_disk_that_is_full(self):
        if os.getuid() != 0 or not shutil.which("unshare"):
            self.skipTest("only root can mount a small file system")
        script = f"mount -t tmpfs -o size=256k none . && cd . && {rec.REC} -F 9999 -- " \
                 f"{rec.target('storm_throw')} 10000; echo status $?; {rec.REC} report | grep -c go_down"
        bare = self.watched([rec.target("storm_throw"), 10000])
        run = self.watched(["unshare", "--mount", "sh", "-c", script])
        if b"mount:" in run.stderr:
            self.skipTest("mounting is not allowed here")
        lines = run.stdout.splitlines()
        self.assertEqual(lines[:2], [bare.stdout.strip(), b"status 125"], run.stderr)
        self.assertGreater(int(lines[2]), 0)
        self.assertIn(b"No space left on device", run.stderr)


if __name__ == "__main__":
    rec.main()

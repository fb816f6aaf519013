#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program suffers when rec is stopped or killed, or when its own stacks are very deep: hardly
anything. What was recorded until then can be read."""
import os
import resource
import signal
import subprocess
import time

import rec


class Trouble(rec.Case):
    def start(self, *command, rec_options=(), stdin=subprocess.DEVNULL):
        process = subprocess.Popen([rec.REC, "-q", *rec_options, "--", *command], cwd=self.directory,
                                   stdin=stdin, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_recursion_100_000_deep_takes_at_most_three_times_as_long(self):
        command = (rec.target("deep_recursion"), "100000", "150")
        bare_s = min(self.cpu_of(self.bare, *command) for _ in range(2))
        self.assertGreater(bare_s, 0.2, "too short to tell")
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                runs = [self.recorded(*command, rec_options=["-q", "-F", "9999", f"--engine={engine}"])
                        for _ in range(2)]
                # CPU time: of other programs only their use of the caches is in it.
                least_ns = min(run.count("cpu_billed_ns") for run in runs)
                self.assertLess(least_ns / 1e9, 3 * bare_s, runs[0].summary)
                self.assertGreater(runs[0].share_of("go_down"), 80)

    def test_a_caller_that_blocks_every_signal_costs_no_sample_after_a_pause(self):
        every = set(range(1, signal.NSIG)) - {32, 33}
        run = self.recorded(rec.target("deep_recursion"), "900", "12000", "600",
                            rec_options=["-q", "-F", "3000"],
                            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, every))
        self.assertGreater(run.count("samples"), 100, run.summary)
        self.assertLess(run.lost(), run.count("samples") / 10, run.summary)

    @staticmethod
    def cpu_of(function, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        function(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_starts_under_a_stopped_rec_are_delayed_by_milliseconds(self):
        count = 40
        script = (f"echo ready; read line; a=$(date +%s%N); for i in $(seq {count}); do /bin/true; done; "
                  "b=$(date +%s%N); echo $(( (b - a) / 1000 ))")
        bare_ms = self.milliseconds_of(["bash", "-c", script]) / count
        stopped_ms = self.milliseconds_of([rec.REC, "-q", "--", "bash", "-c", script], True) / count
        # Two waits each, at most: after the fork and after the exec.
        self.assertLess(stopped_ms, 10 + 5 * bare_ms)

    @staticmethod
    def is_stopped(pid):
        """All of its threads: a signal takes a while to stop who waits for a processor."""
        states = []
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as file:
                states.append(file.read().rpartition(")")[2].split()[0])
        return set(states) == {"T"}

    def test_who_started_while_rec_was_stopped_is_told_once_and_why(self):
        """The command itself waits for rec longer, and is recorded."""
        for script, count in (("echo ready; read line; exec {}", 0), ("echo ready; read line; {}; true", 1)):
            with self.subTest(script=script):
                process = self.start("sh", "-c", script.format(rec.target("short_run") + " 800"),
                                     rec_options=["-o", "late.data"], stdin=subprocess.PIPE)
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(signal.SIGSTOP)
                while not self.is_stopped(process.pid):
                    time.sleep(0.001)
                process.stdin.write("go on\n")
                process.stdin.close()
                time.sleep(0.5)
                process.send_signal(signal.SIGCONT)
                process.wait(60)
                done = self.run_in(self.directory, [rec.REC, "info", "late.data"])
                told = [line for line in done.stdout.decode().splitlines() if line.startswith("  not_followed.")]
                self.assertEqual(len(told), count, told)
                # Stopped is what rec finds when it was just looking at it.
                for line in told:
                    self.assertRegex(line, " short_run started while rec was (busy|stopped)$")

    def milliseconds_of(self, command, is_stopped=False):
        with subprocess.Popen(command, cwd=self.directory, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            if is_stopped:
                process.send_signal(signal.SIGSTOP)
            process.stdin.write("go\n")
            process.stdin.flush()
            taken_us = int(process.stdout.readline())
            process.send_signal(signal.SIGCONT)
            process.stdin.close()
            self.assertEqual(process.wait(30), 0)
        return taken_us / 1000

    def test_a_program_outlives_a_killed_rec(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                self.outlive(engine)

    def outlive(self, engine):
        script = (f"{rec.target('shares')} 2500 >/dev/null; echo survived; exit 7")
        runner = ("import subprocess, sys, os\n"
                  "child = os.fork()\n"
                  "if child == 0:\n"
                  f"    os.execv('{rec.REC}', ['rec', '-q', '--engine={engine}', '-o', 'rec.data', '--', "
                  f"'sh', '-c', '{script.replace(chr(39), '')}'])\n"
                  "print(child, flush=True)\n"
                  "os.waitpid(child, 0)\n")
        directory = self.new_directory()
        process = subprocess.Popen(["/usr/bin/python3", "-c", runner], cwd=directory,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        launcher = int(process.stdout.readline())
        path, end = os.path.join(directory, "rec.data"), time.monotonic() + 20
        while time.monotonic() < end and (not os.path.exists(path) or os.path.getsize(path) < 12000):
            time.sleep(0.01)
        os.kill(launcher, signal.SIGKILL)
        self.assertEqual(process.stdout.read(), "survived\n")
        process.wait(30)
        process.stdout.close()
        run = rec.Run(subprocess.CompletedProcess((), 0, b"", b""), directory, 0)
        self.assertGreater(run.info["samples"], 20)
        self.assertLess(run.info["cpu_ns"], 1.5e9)
        self.assertIn("was not finished", run.info["notes"].get("damage", ""))
        script = subprocess.run(["perf", "script", "-i", run.path()], capture_output=True, text=True,
                                timeout=60, check=False) if self.has_perf() else None
        if script:
            self.assertEqual(script.returncode, 0, script.stderr)
            self.assertIn("hot_70", script.stdout)

    @staticmethod
    def has_perf():
        return subprocess.run(["sh", "-c", "perf --version"], capture_output=True).returncode == 0


if __name__ == "__main__":
    rec.main()

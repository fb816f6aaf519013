#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording begins and ends when it was asked to; the program neither notices nor suffers."""
import os
import time

import rec

PYTHON = "/usr/bin/python3"
WORK_MS = 400


def burn(milliseconds):
    return f"{rec.target('short_run')} {milliseconds}"


class Lifetime(rec.Case):
    def each_engine(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                yield f"--engine={engine}"

    def cpu_ms(self, run, name):
        return sum(process["cpu_ns"] for process in run.info["processes"]
                   if process["name"] == name) / 1e6

    def assert_sum_closes(self, run, slack_ns=1e6):
        """The samples stand for the CPU time that the kernel billed."""
        self.assert_seen(run, 0.02 + slack_ns / run.count("cpu_billed_ns"))

    def wait_for(self, path):
        for _ in range(600):
            if os.path.exists(path) and os.path.getsize(path):
                with open(path, encoding="utf-8") as file:
                    return file.read()
            time.sleep(0.05)
        self.fail(f"{path} never came")


class Descendants(Lifetime):
    def test_the_recording_ends_with_the_command_and_lets_others_go_on(self):
        for engine in self.each_engine():
            script = f"({burn(3 * WORK_MS)}; echo $? > done) > /dev/null 2>&1 & exec {burn(50)}"
            run = self.recorded("bash", "-c", script, rec_options=[engine])
            left = [value.split(" ")[1] for key, value in run.summary.items()
                    if key.startswith("left_running.")]
            self.assertEqual(sorted(left), ["bash", "short_run"])
            self.assertIn(b"left running: ", run.stderr)
            self.assertFalse(os.path.exists(run.path("done")))
            self.assert_sum_closes(run)
            # Nothing hurts it afterwards: no signal without a handler, no wait.
            self.assertEqual(self.wait_for(run.path("done")), "0\n")

    def test_those_that_ended_are_not_left_however_many_end_at_once(self):
        script = ("import os, time\n"
                  "r, w = os.pipe()\n"
                  "for _ in range(400):\n"
                  "    if os.fork() == 0:\n"
                  "        os.close(w); os.read(r, 1); os._exit(0)\n"
                  "time.sleep(1)\n"
                  "os.close(w)\n"
                  "for _ in range(400): os.wait()\n")
        for engine in self.each_engine():
            run = self.recorded(self.need_program(PYTHON), "-c", script, rec_options=[engine])
            self.assertNotIn("left_running.0", run.summary)

    def test_wait_all_records_them_to_their_end(self):
        for engine in self.each_engine():
            # One is handed to init, as daemons are: nobody of the tree waits for it.
            script = f"({burn(WORK_MS)} > /dev/null 2>&1 &); exec {burn(50)}"
            run = self.recorded("bash", "-c", script, rec_options=["--wait-all", engine])
            self.assert_within(self.cpu_ms(run, "short_run"), WORK_MS + 50, WORK_MS / 10)
            self.assertNotIn("left_running.0", run.summary)
            self.assert_sum_closes(run)

    def test_wait_all_waits_also_for_what_cannot_be_followed(self):
        script = f"({rec.target('static_exec')} {burn(WORK_MS)} > /dev/null 2>&1 &); exec {burn(600)}"
        run = self.recorded("bash", "-c", script, rec_options=["--wait-all"])
        self.assertNotIn("left_running.0", run.summary)
        self.assert_within(self.cpu_ms(run, "short_run"), WORK_MS + 600, WORK_MS / 4)

    def test_a_daemon_that_ended_before_the_command_is_in_the_account(self):
        script = f"({burn(WORK_MS)} > /dev/null 2>&1 &); exec {burn(3 * WORK_MS)}"
        run = self.recorded("bash", "-c", script)
        self.assert_within(self.cpu_ms(run, "short_run"), 4 * WORK_MS, WORK_MS / 5)
        self.assert_sum_closes(run)


class Duration(Lifetime):
    def test_files_are_there_while_the_program_goes_on(self):
        for engine in self.each_engine():
            script = f"{burn(4 * WORK_MS)}; cat rec.folded; exit 3"
            run = self.record("sh", "-c", script, rec_options=["--duration", "300ms", engine])
            self.assertEqual(run.status, 3, run.stderr)
            with open(run.path("rec.folded"), "rb") as file:
                self.assertEqual(run.stdout, file.read())
            self.assertEqual(run.summary["end"], "duration")
            self.assertIn(b"--duration; the command goes on", run.stderr)
            self.assertLess(self.cpu_ms(run, "short_run"), 2 * WORK_MS)
            self.assert_sum_closes(run)

    def test_a_program_that_ends_earlier_is_recorded_to_its_end(self):
        run = self.recorded(*burn(50).split(), rec_options=["--duration", "1m"])
        self.assertEqual(run.summary["end"], "command")

    def test_the_program_can_be_ended_too(self):
        options = ["--duration", "300ms", "--end-command"]
        run = self.record(*burn(60000).split(), rec_options=options)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn(b"sent SIGTERM to the command", run.stderr)
        run = self.record("bash", "-c", f"trap 'exit 5' TERM; while :; do :; done",
                          rec_options=options)
        self.assertEqual(run.status, 5, run.stderr)

    def test_signals_for_the_program_still_reach_it(self):
        script = ("import os, signal, sys, time\n"
                  "signal.signal(signal.SIGUSR1, lambda *_: os._exit(6))\n"
                  "while not os.path.exists('rec.folded'): time.sleep(0.01)\n"
                  "os.kill(os.getppid(), signal.SIGUSR1)\n"
                  "time.sleep(30)\n")
        run = self.record(self.need_program(PYTHON), "-c", script,
                          rec_options=["--duration", "100ms"])
        self.assertEqual(run.status, 6, run.stderr)


class Delay(Lifetime):
    def test_what_was_used_before_is_told_and_the_rest_adds_up(self):
        for engine in self.each_engine():
            for program in (burn(2 * WORK_MS), f"{rec.target('equal_threads')} 2 {WORK_MS}"):
                run = self.recorded(*program.split(), rec_options=["-D", "300", engine])
                before, billed = run.count("cpu_before_ns"), run.count("cpu_billed_ns")
                self.assertGreater(before, 0)
                self.assert_within((before + billed) / 1e6, 2 * WORK_MS, WORK_MS / 5)
                # What a thread had used when sampling began is known to the last tick.
                self.assert_sum_closes(run, slack_ns=10e6)
                self.assertGreater(run.count("samples"), 0)
                self.assertIn(b"sampling began after 300 ms", run.stderr)

    def test_longer_than_the_program(self):
        run = self.recorded(*burn(200).split(), rec_options=["-D", "60000"])
        self.assertEqual(run.count("cpu_billed_ns"), 0)
        self.assertEqual(run.count("samples"), 0)
        self.assertIn(b"before sampling began at 60.0 s", run.stderr)
        self.assertNotIn(b"nothing to sample", run.stderr)

    def test_what_perf_has_and_we_have_not_is_refused(self):
        run = self.record("true", rec_options=["-D", "-1"])
        self.assertEqual(run.status, 125)
        self.assertEqual(run.stderr.count(b"\n"), 1)


class Size(Lifetime):
    def test_the_recording_ends_and_the_program_does_not(self):
        deep = f"{rec.target('depth')} 100 {2 * WORK_MS}"  # enough also where the kernel allows 200 samples a second
        run = self.record("sh", "-c", f"{deep}; exit 4", rec_options=["-F", "2000", "--max-size", "128K"])
        self.assertEqual(run.status, 4, run.stderr)
        self.assertEqual(run.summary["end"], "max-size")
        self.assertLess(os.path.getsize(run.path()), 4 * 128 * 1024)
        self.assert_sum_closes(run)


class Alone(Lifetime):
    def test_children_are_left_out(self):
        for engine in self.each_engine():
            run = self.recorded("bash", "-c", f"{burn(WORK_MS)}; for i in {{1..50000}}; do :; done",
                                rec_options=["-i", engine])
            self.assertEqual(run.count("processes"), 1)
            self.assertEqual({process["name"] for process in run.info["processes"]}, {"bash"})
            self.assert_sum_closes(run)
            run = self.recorded(rec.target("processes"), "fork", WORK_MS,
                                rec_options=["--no-inherit", engine])
            self.assertNotIn("work_of_a_forked_child", str(run.stacks()))

    def test_what_the_command_executes_itself_is_recorded(self):
        for engine in self.each_engine():
            run = self.recorded("bash", "-c", f"{burn(WORK_MS)}; exec {burn(WORK_MS)}",
                                rec_options=["-i", engine])
            self.assertGreater(run.share_of("burn_until_ns"), 80)
            self.assert_within(self.cpu_ms(run, "short_run"), WORK_MS, WORK_MS / 8)
            self.assert_sum_closes(run)

    def test_their_environment_is_as_it_was(self):
        preload = rec.target("lib_plugin_a.so")
        for environment in (dict(os.environ), dict(os.environ, LD_PRELOAD=""),
                            dict(os.environ, LD_PRELOAD=preload, ZZZ="last"),
                            dict(LD_PRELOAD=f"{preload}:{preload}", PATH=os.environ["PATH"])):
            command = ["sh", "-c", "env -0; cat /proc/self/environ"]
            bare = self.bare(*command, env=environment)
            run = self.recorded(*command, rec_options=["-q", "-i"], env=environment)
            self.assertEqual(run.stdout.replace(run.directory.encode(), b""),
                             bare.stdout.replace(bare.directory.encode(), b""))


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time that no sample stands for is told, with its cause; it never looks like a program that ends."""
import os
import resource

import rec

WORK_MS = 600
THREAD_MS = 1500  # so that the launcher looks at threads meanwhile


class Blind(rec.Case):
    def assert_told(self, run, cause, words):
        billed = run.count("cpu_billed_ns")
        self.assertGreater(run.count(f"blind_ns.{cause}") / billed, 0.8)
        self.assert_seen(run, 0.02)
        self.assertIn(words, run.stderr.decode())
        self.assertGreater(run.share_of("[lost]"), 80)

    def assert_sees(self, run):
        """Nothing is told of a program that is sampled as it should be."""
        told = [key for key in run.summary if key.startswith("blind_ns.")]
        self.assertEqual(told, [])

    def test_a_signal_that_is_blocked_behind_our_back(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("unsampled"), "blocked", WORK_MS,
                                  rec_options=[f"--engine={engine}"])
                self.assert_told(run, "signal-blocked", "blocks the signal of the sampler")

    def test_a_signal_that_is_blocked_or_ignored_by_functions_without_a_hook(self):
        causes = {"held": ("signal-blocked", "blocks the signal of the sampler"),
                  "ignored": ("signal-unhandled", "removed the signal handler of the sampler")}
        for engine in rec.ENGINES:
            for how, (cause, words) in causes.items():
                with self.subTest(engine=engine, how=how):
                    self.need_engine(engine)
                    run = self.record(rec.target("unsampled"), how, WORK_MS,
                                      rec_options=[f"--engine={engine}"])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assert_told(run, cause, words)

    def test_a_thread_that_blocks_a_signal_sent_to_it_is_not_sampled(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("unsampled"), "foreign", WORK_MS, rec_options=[f"--engine={engine}"])
                self.assertEqual(run.status, 0, run.stderr)
                self.assert_told(run, "signal-blocked", "blocks the signal of the sampler")

    def test_a_short_process_without_any_sample(self):
        """It ends before a second look, or is replaced by another program."""
        short = f"{rec.target('unsampled')} blocked 200"
        for engine in rec.ENGINES:
            self.need_engine(engine)
            for command in (short.split(), ["sh", "-c", f"{short}; {short}"],
                            [rec.target("unsampled"), "blocked", 200, "/bin/true"]):
                with self.subTest(engine=engine, command=command):
                    run = self.record(*command, rec_options=[f"--engine={engine}"])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assert_told(run, "signal-blocked", "blocks the signal of the sampler")
                    self.assertLess(run.share_of("[between samples]"), 5)
                    self.assertNotIn(b"rec doctor", run.stderr)

    def test_a_process_of_a_few_periods_without_any_sample(self):
        """Shorter than a look of the launcher: at its end the process still shows the cause."""
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("unsampled"), "blocked", 30, rec_options=[f"--engine={engine}"])
                self.assert_told(run, "signal-blocked", "blocks the signal of the sampler")
                self.assertLess(run.share_of("[between samples]"), 5)

    def test_the_cause_is_named_also_when_all_else_is_quiet(self):
        run = self.record(rec.target("unsampled"), "blocked", 200, rec_options=["-q"])
        self.assertRegex(run.stderr, rb"\Arec: no samples at all: the program blocks [^\n]*\n\Z")

    def test_a_short_process_that_is_killed(self):
        run = self.record("sh", "-c", f"{rec.target('unsampled')} killed 300; true")
        self.assertGreater(run.share_of("[lost]"), 80)
        self.assertLess(run.share_of("[between samples]"), 10)

    def test_what_is_too_short_for_a_sample_is_not_called_lost(self):
        """At 19 Hz most of these processes end before the first period."""
        for engine in rec.ENGINES:
            self.need_engine(engine)
            script = f"for i in 1 2 3 4 5 6 7 8 9 10; do {rec.target('short_run')} 40; done"
            run = self.record("sh", "-c", script, rec_options=["-F", "19", f"--engine={engine}"])
            self.assert_sees(run)

    def test_a_sandbox_in_which_no_handler_can_return(self):
        run = self.record(rec.target("sandboxed"), "no-handlers", 250)
        main, *others = sorted(run.info["threads"], key=lambda thread: thread["start_ns"])
        # three of the five pieces of work; one is that of the thread after the sandbox
        self.assertGreater(main["cpu_ns"], 2.5 * max(thread["cpu_ns"] for thread in others))
        self.assertGreater(run.count("blind_ns.signal-unhandled"), 0.9 * main["cpu_ns"])
        self.assertIn("a sandbox forbids", run.stderr.decode())

    def test_a_thread_that_the_c_library_does_not_know(self):
        run = self.record(rec.target("unsampled"), "clone", THREAD_MS, rec_options=["--engine=timer"])
        self.assert_told(run, "unknown-thread", "created by clone()")

    def test_a_thread_with_thread_local_memory_of_its_own(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("unsampled"), "tls", THREAD_MS, rec_options=[f"--engine={engine}"])
                self.assertGreaterEqual(run.status, 0)
                self.assert_told(run, "unknown-thread", "created by clone()")

    def test_threads_beyond_the_limit_are_counted(self):
        busy = self.record(rec.target("short_run"), 300, rec_options=["--engine=perf-trap"])
        # Less than 1 where the timer of a virtual machine is late.
        kept = busy.count("samples") / (busy.count("cpu_billed_ns") / 1e9 * 999)
        run = self.record(rec.target("crowded"), 1100, 50, 20, rec_options=["--engine=perf-trap"])
        self.assertEqual(run.count("threads"), 1101)
        self.assertEqual(run.count("threads_without_slot"), 1101 - 1024)
        self.assertGreater(run.count("blind_ns.unknown-thread"), 0.8 * kept * 50 * 20e6)
        self.assertIn("too many threads at one time: rec records 1024 of a process", run.stderr.decode())

    def assert_thread_in_the_kernel(self, how, name):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("unsampled"), how, THREAD_MS, rec_options=[f"--engine={engine}"])
                if run.status == 4:
                    self.skipTest("the kernel or a sandbox refuses io_uring")
                billed = run.count("cpu_billed_ns")
                self.assertEqual(run.status, 0)
                self.assert_seen(run, 0.02)
                self.assertGreater(run.share_of("[kernel]"), 60)
                self.assertLess(run.share_of("[lost]"), 20)
                others = [thread for thread in run.info["threads"] if thread["tid"] != thread["pid"]]
                self.assertEqual(len(others), 1)
                self.assertRegex(others[0]["name"], name)
                self.assertGreater(others[0]["cpu_ns"] / billed, 0.6)
                self.assertLess(others[0]["start_ns"], others[0]["end_ns"])
                if engine == "perf-trap":  # by timer the lower rate is told with that hint
                    self.assertNotIn("rec doctor", run.stderr.decode())

    def test_a_thread_of_the_kernel_for_io_uring_has_its_time(self):
        self.assert_thread_in_the_kernel("io_uring", "^iou-sqp-")

    def test_a_thread_of_the_c_library_for_asynchronous_reading_has_its_time(self):
        self.assert_thread_in_the_kernel("aio", "^unsampled$")

    def test_timers_that_the_kernel_refuses(self):
        run = self.record(
            "sh", "-c", f"ulimit -i 0; exec {rec.target('short_run')} {WORK_MS}",
            rec_options=["--engine=timer"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0)))
        self.assert_told(run, "no-timer", "refuses CPU timers")

    def test_programs_of_another_recording(self):
        """The inner recording's command, long or short, was a fork of the inner rec, and so in the outer recording."""
        inner = os.path.join(self.new_directory(), "inner.data")
        for engine in rec.ENGINES:
            for milliseconds in (WORK_MS, 30):
                with self.subTest(engine=engine, milliseconds=milliseconds):
                    self.need_engine(engine)
                    run = self.record(rec.REC, "-q", f"--engine={engine}", "-o", inner, "--", rec.target("short_run"),
                                      milliseconds, rec_options=[f"--engine={engine}"])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assertIn(b"recorded by another rec", run.stderr)
                    self.assertGreater(run.count("blind_ns.other-recording"), 0.9e6 * milliseconds)
                    self.assertNotIn("blind_ns.other", run.summary)
                    self.assert_seen(run, 0.02)

    def test_what_is_sampled_is_not_accused(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                for program in (["short_run", WORK_MS], ["system_calls"], ["equal_threads"]):
                    self.assert_sees(self.record(rec.target(program[0]), *program[1:],
                                                 rec_options=[f"--engine={engine}"]))

    def test_the_kernels_share_between_rare_samples_is_not_called_lost(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                self.assert_sees(self.record(rec.target("system_calls"), 2 * WORK_MS,
                                             rec_options=["-F", "1", f"--engine={engine}"]))

    def test_the_ends_of_many_threads_are_not_called_lost(self):
        """What the C library and the kernel do for a thread after its last word: 17 us, 10 000 times."""
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                self.assert_sees(self.record(rec.target("brief_threads"), 10000, 1000,
                                             rec_options=[f"--engine={engine}"]))


if __name__ == "__main__":
    rec.main()

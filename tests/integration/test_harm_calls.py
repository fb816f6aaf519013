#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No system call of a program ends early, fails with EINTR or moves less because the program is sampled
10 000 times a second."""
import harm
import rec

MILLISECONDS = rec.figure(1400, 60000)


class Calls(harm.Case):
    def assert_sampled(self, run):
        """The timer engine has a sample for each tick of the kernel: 100 or more in a second of CPU time."""
        self.assertGreater(run.count("samples"), 60 * run.count("cpu_billed_ns") / 1e9)

    def undisturbed(self, program, least_turns):
        for run in self.same(rec.target(program), MILLISECONDS):
            self.assertEqual(run.stdout, b"0 wrong\n")
            turns = dict(line.split() for line in run.stderr.decode().splitlines())
            self.assertTrue(turns)
            for call, count in turns.items():
                self.assertGreaterEqual(int(count), least_turns, call)
            yield run

    def assert_undisturbed(self, program, least_turns):
        for run in self.undisturbed(program, least_turns):
            self.assert_sampled(run)

    def test_waits_and_sleeps_end_as_without_rec(self):
        self.assert_undisturbed("waits", 10)

    def test_large_transfers_are_whole(self):
        self.assert_undisturbed("transfers", 10)

    def test_asynchronous_input_and_output_is_whole(self):
        """io_uring, userfaultfd, POSIX AIO and timers with threads."""
        for run in self.undisturbed("async_io", 3):
            self.assert_sampled(run)

    def test_waits_of_io_uring_are_whole_without_signals(self):
        """The kernel runs expired CPU timers inside these waits; perf-ring has none, and sends no signal."""
        options = ["-q", "-F", "9999", "--engine=perf-ring"]
        run = self.recorded(rec.target("async_io"), MILLISECONDS, "whole", rec_options=options)
        self.assertEqual(run.stdout, b"0 wrong\n")
        self.assertGreater(run.count("samples"), 100)

    def test_an_ignored_signal_ends_nobodys_wait(self):
        for how in ("default", "child"):
            for run in self.same(rec.target("ignored"), how, MILLISECONDS // 2):
                self.assertEqual(run.stdout, b"0 interrupted\n")

    def test_a_handler_may_jump_away_whose_signal_was_ignored_before(self):
        for run in self.same(rec.target("ignored"), "changing", MILLISECONDS // 2):
            self.assert_sampled(run)
            self.assertLess(run.lost(), run.count("samples") * 0.05)


if __name__ == "__main__":
    rec.main()

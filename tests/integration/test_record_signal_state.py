#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that uses the sampler's signal sees it blocked and pending as without rec."""
import signal

import rec

NUMBERS = {"perf-trap": signal.SIGTRAP, "timer": signal.SIGPROF}
WAYS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle")
STARTS = ("vfork", "fork", "posix_spawn", "posix_spawnp", "spawn-mask", "spawn-default", "system",
          "popen")


class SignalState(rec.Case):
    def compare(self, *command):
        for engine, number in NUMBERS.items():
            words = [str(int(number)) if word == "NUMBER" else word for word in command]
            with self.subTest(command=words[1:], engine=engine):
                self.need_engine(engine)
                bare = self.bare(*words)
                run = self.record(*words,
                                  rec_options=["-q", "-F", "9999", f"--engine={engine}",
                                               "-o", "rec.data"])
                self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout),
                                 run.stderr.decode())
                self.assertEqual(run.summary["engine"], engine)

    def test_calls_that_fail_answer_what_they_would(self):
        self.compare(rec.target("odd_calls"), "NUMBER")

    def compare_masks(self, *hows):
        for how in hows:
            self.compare(rec.target("masks_kept"), how, "NUMBER")

    def compare_inherited(self, hows, disposition):
        for how in hows:
            self.compare(rec.target("inherits"), "NUMBER", disposition, how, rec.target("kernel_view"))

    def test_masks_come_back_with_jumps_handlers_and_contexts(self):
        self.compare_masks("longjmp", "handler", "context")

    def test_threads_begin_with_the_mask_they_were_given(self):
        self.compare_masks("thread")

    def test_loops_of_waits_that_unblock_the_signal_run_its_handler(self):
        self.compare_masks("suspend", "ppoll", "sleep")

    def test_waiting_for_the_signal_gets_the_programs_and_none_of_ours(self):
        self.compare_masks("wait", "waitinfo", "timedwait")

    def test_a_child_on_its_parents_memory_changes_its_own_signals_alone(self):
        self.compare_masks("vfork", "clone")

    def test_programs_inherit_no_block_where_there_is_none(self):
        self.compare_inherited(WAYS + STARTS, "default")
        self.compare_inherited(("execve", "posix_spawn"), "handle")


if __name__ == "__main__":
    rec.main()

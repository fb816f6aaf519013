#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that uses the sampler's signal sees it blocked, pending and inherited as without rec."""
import os
import signal

import rec

NUMBERS = {"perf-trap": signal.SIGTRAP, "timer": signal.SIGPROF}
WAYS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle")
STARTS = ("vfork", "fork", "posix_spawn", "posix_spawnp", "spawn-mask", "spawn-default", "system",
          "popen")
# Debian's sh unblocks all signals when it starts; that of most others, bash, does not.
BASH_AS_SH = ("unshare", "--mount", "sh", "-c",
              "mount --bind \"$(command -v bash)\" \"$(readlink -f /bin/sh)\" && exec \"$@\"", "-")


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

    def compare_inherited(self, hows, disposition, mask):
        for how in hows:
            self.compare(rec.target("inherits"), "NUMBER", disposition, mask, how,
                         rec.target("kernel_view"))

    def test_masks_come_back_with_jumps_handlers_and_contexts(self):
        self.compare_masks("longjmp", "handler", "context")

    def test_masks_set_by_sigsetmask_are_as_they_were(self):
        self.compare_masks("obsolete")
        for engine, number in NUMBERS.items():
            self.need_engine(engine)
            run = self.recorded(rec.target("masks_kept"), "obsolete", int(number),
                                rec_options=["-q", f"--engine={engine}"])
            self.assertGreater(run.share_of("burn_masked"), 20, engine)

    def test_threads_begin_with_the_mask_they_were_given(self):
        self.compare_masks("thread")

    def test_loops_of_waits_that_unblock_the_signal_run_its_handler(self):
        self.compare_masks("suspend", "ppoll", "sleep")

    def test_waiting_for_the_signal_gets_the_programs_and_none_of_ours(self):
        self.compare_masks("wait", "waitinfo", "timedwait")

    def test_a_child_on_its_parents_memory_changes_its_own_signals_alone(self):
        self.compare_masks("vfork", "clone")

    def test_programs_inherit_a_blocked_signal(self):
        self.compare_inherited(WAYS + STARTS, "default", "all")
        self.compare_inherited(("execve", "posix_spawn"), "handle", "one")

    def test_shells_inherit_a_blocked_signal(self):
        if os.getuid() != 0:
            self.skipTest("only root can put bash in place of sh")
        for program in ("unshare", "bash"):
            self.need_program(program)
        for how in ("system", "popen"):
            self.compare(*BASH_AS_SH, rec.target("inherits"), "NUMBER", "default", "all", how,
                         rec.target("kernel_view"))

    def test_programs_inherit_an_ignored_signal(self):
        self.compare_inherited(WAYS + STARTS, "ignore", "none")

    def test_a_signal_stays_ignored_while_another_thread_sets_others(self):
        self.compare(rec.target("ignored_at_exec"), "change", "NUMBER", "300")

    def test_a_signal_stays_ignored_while_another_thread_fails_to_execute_a_program(self):
        self.compare(rec.target("ignored_at_exec"), "execute", "NUMBER", "300")

    def test_programs_inherit_neither(self):
        self.compare_inherited(("execve", "execvp", "posix_spawn", "fork", "system"), "default",
                               "none")
        self.compare_inherited(("execve", "posix_spawn"), "handle", "none")


if __name__ == "__main__":
    rec.main()

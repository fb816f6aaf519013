#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that uses SIGTRAP or SIGPROF itself gets every signal of its own, and none of rec's."""
import signal

import rec

HOWS = ("raise", "kill", "queue", "round-trip", "siginfo", "reset", "one-shot", "ignore", "default",
        "block", "interrupt", "restart-waits", "masks")
SIGNALS = (signal.SIGTRAP, signal.SIGPROF)


class OwnSignals(rec.Case):
    def compare(self, how, number):
        bare = self.bare(rec.target("own_signal"), how, str(int(number)))
        for engine in rec.ENGINES:
            with self.subTest(how=how, signal=number, engine=engine):
                self.need_engine(engine)
                run = self.record(rec.target("own_signal"), how, str(int(number)),
                                  rec_options=["-q", "-F", "9999", f"--engine={engine}"])
                self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout),
                                 run.stderr.decode())
                if how != "reset":  # which may well switch the samples off
                    self.assertGreater(run.count("samples"), 5)

    def test_the_samplers_signals_serve_the_program_too(self):
        for how in HOWS:
            for number in SIGNALS:
                self.compare(how, number)

    def test_other_signals_are_not_touched(self):
        for how in ("raise", "round-trip", "one-shot", "interrupt"):
            self.compare(how, signal.SIGUSR1)

    def test_a_thread_that_waits_for_all_signals_gets_the_programs_alone(self):
        self.compare("wait", signal.SIGUSR1)

    def test_an_interval_timer_of_the_program_serves_it(self):
        self.compare("timer", signal.SIGPROF)

    def test_breakpoint_instructions_reach_the_programs_handler(self):
        self.compare("int3", signal.SIGTRAP)

    def test_a_breakpoint_kills_where_its_signal_is_blocked_or_ignored(self):
        self.compare("int3-blocked", signal.SIGTRAP)
        self.compare("int3-ignored", signal.SIGTRAP)

    def test_a_breakpoint_without_a_handler_kills(self):
        bare = self.bare("/usr/bin/perl", "-e", "kill 'TRAP', $$; sleep 1")
        run = self.record("/usr/bin/perl", "-e", "kill 'TRAP', $$; sleep 1")
        self.assertEqual(run.status, bare.status)


if __name__ == "__main__":
    rec.main()

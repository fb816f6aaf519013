#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu: CPU time, waits and runnable time of each thread are those of the scheduler's tracepoints. The long test
of the same is test_waits_programs.py."""
import waits_truth
from waiting_programs import PROGRAMS

import rec


class Times(waits_truth.Case):
    def test_times_of_an_event_loop(self):
        self.check_times(*self.record_program(PROGRAMS["python3 asyncio"]))

    def test_times_of_commands_and_their_pipes(self):
        self.check_times(*self.record_program(PROGRAMS["bash"]))


if __name__ == "__main__":
    rec.main()

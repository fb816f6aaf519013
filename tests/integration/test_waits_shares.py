#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu: short waits at three places have their shares and their sum, also beside two busy loops.
test_record_off_cpu.py has the same for three seconds, where chance decides more."""
import test_record_off_cpu as off_cpu

import rec

LENGTH_S = 25
LOOPS = 2


class Shares(rec.Case):
    def check_at_10_ms(self):
        off_cpu.check_shares(self, LENGTH_S, 3)

    def check_at_1_ms(self):
        off_cpu.check_shares(self, LENGTH_S, 1, "--off-cpu-interval", "1ms")

    def check_without_perf_events(self):
        off_cpu.check_shares(self, LENGTH_S, 3, percent=1, preexec_fn=off_cpu.refuse_perf_events)

    def test_at_10_ms(self):
        self.check_at_10_ms()

    def test_at_1_ms(self):
        self.check_at_1_ms()

    def test_without_perf_events(self):
        self.check_without_perf_events()

    def test_at_10_ms_beside_loops(self):
        self.start_busy_loops(LOOPS)
        self.check_at_10_ms()

    def test_at_1_ms_beside_loops(self):
        self.start_busy_loops(LOOPS)
        self.check_at_1_ms()

    def test_without_perf_events_beside_loops(self):
        self.start_busy_loops(LOOPS)
        self.check_without_perf_events()


if __name__ == "__main__":
    rec.main()

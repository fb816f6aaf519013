#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of `sleep 2`, 100 times beside two busy loops: a sample for each tick, and the exact length."""
import os

import rec
import test_record_off_cpu as off_cpu

RUNS = int(os.environ.get("REC_RUNS", "100"))
LOOPS = 2


class Sleeps(rec.Case):
    def test_beside_busy_loops(self):
        counts, lengths, failures = [], [], []
        self.start_busy_loops(LOOPS)
        for _ in range(RUNS):
            run = self.recorded("sleep", "2", rec_options=("--off-cpu-interval", "10ms", "-o", "rec.data"))
            sleeps = [sample for sample in off_cpu.waits_of(run) if sample.frames[0] == "[waiting: sleep]"]
            counts.append(len(sleeps))
            lengths.append(off_cpu.seconds(sleeps))
            if not (180 <= counts[-1] <= 220 and abs(lengths[-1] - 2) <= 0.01):
                failures.append((counts[-1], lengths[-1]))
        print(f"  {min(counts)} to {max(counts)} samples, {min(lengths):.4f} to {max(lengths):.4f} s")
        self.assertEqual(failures, [])


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of real programs, as an ordinary user: the times of each thread are those of the scheduler's tracepoints
and add up to its lifetime, and the stacks of waits are complete."""
import waits_truth
from waiting_programs import PROGRAMS

import rec

COMPLETE_PERCENT = 99.5


class Waits(waits_truth.Case):
    def check_stacks(self, run):
        looks = run.count("off_cpu.looks") - sum(run.count(f"off_cpu.{key}") for key in ("torn", "running", "failed"))
        bad = sum(run.count(f"off_cpu.{key}") for key in ("incomplete", "guessed", "refused", "stackless"))
        print(f"  {looks} looks, {run.count('off_cpu.inferred')} inferred, {bad} not complete")
        self.assertGreater(looks, 0)
        self.assertLessEqual(bad, max(1, looks * (100 - COMPLETE_PERCENT) / 100))


def test_of(name):
    def test(self):
        run, threads = self.record_program(PROGRAMS[name])
        self.check_times(run, threads)
        self.check_stacks(run)

    return test


for program_name in PROGRAMS:
    setattr(Waits, "test_" + program_name.replace("+", "x").replace(" ", "_").replace("-", "_"), test_of(program_name))

if __name__ == "__main__":
    rec.main()

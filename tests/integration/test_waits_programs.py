#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of real programs, as an ordinary user and as root: the times of each thread are those of the scheduler's
tracepoints and add up to its lifetime, and the stacks of waits are complete."""
import waits_truth
from waiting_programs import PROGRAMS

import rec

COMPLETE_PERCENT = 99.5
ROOT = {}
NOT_AS_ROOT = ("postgres",)
AT_1_MS = ("postgres", "mariadbd")


class Waits(waits_truth.Case):
    def check_stacks(self, run):
        looks = run.count("off_cpu.looks") - sum(run.count(f"off_cpu.{key}") for key in ("torn", "running", "failed"))
        bad = sum(run.count(f"off_cpu.{key}") for key in ("incomplete", "guessed", "refused", "stackless"))
        print(f"  {looks} looks, {run.count('off_cpu.inferred')} inferred, {bad} not complete")
        self.assertGreater(looks, 0)
        self.assertLessEqual(bad, max(1, looks * (100 - COMPLETE_PERCENT) / 100))


def test_of(name, *options, user=None):
    def test(self):
        run, threads = self.record_program(PROGRAMS[name], *options, user=user)
        self.check_times(run, threads)
        self.check_stacks(run)

    return test


def add_test(name, what, *options, user=None):
    words = name.replace("+", "x").replace(" ", "_").replace("-", "_")
    setattr(Waits, f"test_{words}{what}", test_of(name, *options, user=user))


for program_name in PROGRAMS:
    add_test(program_name, "")
    if program_name not in NOT_AS_ROOT:
        add_test(program_name, "_as_root", user=ROOT)
    if program_name in AT_1_MS:
        add_test(program_name, "_at_1_ms", "--off-cpu-interval", "1ms")

if __name__ == "__main__":
    rec.main()

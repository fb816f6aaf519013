#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With --raw a capture keeps registers and stack bytes: perf unwinds them, and rec shows the stacks of other recordings."""
import collections
import os
import re
import subprocess

import perf_script
import rec

CALLS = 7
OUTER = ("_start", "__libc_start_main_impl", "__libc_start_call_main", "main")


class Raw(rec.Case):
    def record_depth(self, *options):
        self.need_engine("perf-trap")  # permission for perf events
        return self.recorded(rec.target("depth"), CALLS, 600, rec_options=["-q", "-F", "999", *options])

    def assert_shown(self, run):
        """By rec: nearly all weight is in leaf(), behind all of its callers."""
        calls = ("depth",) + OUTER + ("recurse",) * CALLS + ("leaf",)
        weights = collections.Counter()
        for stack, weight in run.stacks().items():
            weights[stack[:len(calls)] == calls] += weight
        self.assertGreater(weights[True], 0.95 * weights.total(), run.stacks())
        self.assertGreater(run.complete_percent(), 99, run.summary)
        self.assertEqual(run.summary["engine"], "perf-ring")

    def test_perf_and_rec_unwind_the_same_stacks(self):
        run = self.record_depth("--raw")
        self.assert_shown(run)
        done = subprocess.run(["perf", "script", "-i", run.path(), "--no-inline", "-F", "ip,sym"], timeout=120,
                              env=perf_script.environment(), capture_output=True, text=True, check=True)
        samples = [[perf_script.plain(line.split()[-1]) for line in block.splitlines()]
                   for block in re.split(r"\n{2,}", done.stdout.strip())]
        expected = ["leaf"] + ["recurse"] * CALLS + ["main"]
        whole = [names for names in samples if [name for name in names if name in expected] == expected
                 and names[-1] == "_start"]
        self.assertGreater(len(whole), 0.95 * len(samples), samples[:3])

    def test_stack_bytes_are_kept_on_request_alone(self):
        """At most as many as the stack has."""
        kept, walked = self.record_depth("--raw"), self.record_depth("--engine=perf-ring")
        self.assert_shown(walked)
        for run, least, most in ((kept, 1024, 16 << 10), (walked, 64, 512)):
            bytes_of_sample = os.path.getsize(run.path()) / run.count("samples")
            self.assertGreater(bytes_of_sample, least)
            self.assertLess(bytes_of_sample, most)

    def test_kernel_time_is_above_the_user_stack(self):
        self.need_root()
        run = self.recorded("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=20000", rec_options=["-q", "--raw"])
        kernel = sum(weight for stack, weight in run.stacks().items()
                     if "__libc_start_main_impl" in stack and "__libc_read" in stack[:-1])
        self.assertGreater(kernel, 0.5 * sum(run.stacks().values()), run.stacks())

    def test_contradictions_are_refused(self):
        for options, reason in ((["--engine=timer"], b"--raw needs --engine=perf-ring"),
                                (["--off-cpu-only"], b"leave out --off-cpu-only"),
                                (["--kernel-callchains"], b"leave out")):
            with self.subTest(options=options):
                run = self.record("true", rec_options=["--raw", *options])
                self.assertEqual(run.status, 125)
                self.assertIn(reason, run.stderr)


if __name__ == "__main__":
    rec.main()

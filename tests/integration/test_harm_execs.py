#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that replaces itself while it is being sampled: no signal reaches the new one."""
import harm
import rec

COUNT = rec.figure(200, 2000)


class Execs(harm.Case):
    def test_exec_of_true_never_dies(self):
        for run in self.same(rec.target("execs"), COUNT, rates=(1000, 10000, 20000)):
            self.assertEqual(run.stdout, f"0 of {COUNT} hurt\n".encode())
            # A launcher that gets no turn for long misses some: they run on without a sampler.
            self.assertGreaterEqual(run.count("processes"), COUNT / 2)


if __name__ == "__main__":
    rec.main()

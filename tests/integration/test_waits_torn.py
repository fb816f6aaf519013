#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of threads that rewrite 16 KiB of their stacks before each wait: of 100 000 reads, no stack that is
shown has frames of two turns. Without the check that the thread has not run meanwhile, some have."""
import collections
import os
import subprocess

import rec
import test_record_off_cpu as off_cpu

READS = int(os.environ.get("REC_READS", "100000"))
RUNS_MAX, SECONDS, LINKS = 60, 10, 8
CHAINS = [[f"{name}_{i + 1}" for i in range(LINKS)] for name in ("even", "odd")]


class Torn(rec.Case):
    def chains_of(self, run):
        """Functions of the two chains, from the root -> nanoseconds of waits with this stack."""
        text = subprocess.run([rec.REC, "convert", "-q", "--format=collapsed", "--metric=off-cpu", "-o", "-", run.path()],
                              capture_output=True, text=True, check=True, timeout=rec.TIMEOUT_S).stdout
        chains = collections.Counter()
        for line in text.splitlines():
            stack, weight = line.rsplit(" ", 1)
            links = [frame for frame in stack.split(";") if any(frame in chain for chain in CHAINS)]
            chains[tuple(links)] += int(weight)
        return chains

    def check_reads(self, threads, longest_us, **more):
        counts, waits = collections.Counter(), collections.Counter()
        for _ in range(RUNS_MAX):
            run = self.recorded(rec.target("two_chains"), threads, SECONDS, longest_us, **more,
                                rec_options=("--off-cpu-interval", "1ms", "-o", "rec.data"))
            for key in ("looks", "torn", "running", "failed", "refused", "incomplete", "guessed"):
                counts[key] += run.count("off_cpu." + key)
            waits += self.chains_of(run)
            os.unlink(run.path())
            if counts["looks"] >= READS:
                break
        print(f"  {run.summary['off_cpu.method']}:", ", ".join(f"{count} {key}" for key, count in counts.items()))
        # the whole chain, or, where a thread waits in the kernel for its stack's memory, a part of it
        mixed = [links for links in waits if not any(list(links) == chain[:len(links)] for chain in CHAINS)]
        self.assertEqual(mixed, [])
        self.assertGreaterEqual(counts["looks"], READS)
        self.assertGreater(counts["torn"], 0)
        shown = counts["looks"] - counts["torn"] - counts["running"] - counts["failed"]
        self.assertGreater(shown, READS / 20)
        self.assertEqual((counts["refused"], counts["guessed"], counts["incomplete"]), (0, 0, 0))
        for chain in CHAINS:
            self.assertGreater(waits[tuple(chain)], 0)

    def test_with_switch_records(self):
        self.check_reads(12, 2000)

    def test_without_perf_events(self):
        self.check_reads(12, 2000, preexec_fn=off_cpu.refuse_perf_events)


if __name__ == "__main__":
    rec.main()

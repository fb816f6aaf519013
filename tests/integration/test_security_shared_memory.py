#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process without privilege that writes into the shared memory of its recording does no harm to
the sampler of a privileged process."""
import os
import shutil

import rec

SECONDS = rec.figure(4, 600)
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
# The victim runs threads until the other one has ended, and then reports its own status.
SCRIPT = """
(ulimit -v {limit}; exec {victim} 1000000 20000000) & victim=$!
sleep 0.2
{nobody} {scribbles} {seconds} || exit 99
kill -0 $victim || {{ wait $victim; exit; }}
kill -USR2 $victim
wait $victim
"""
FREED = """
{victim} & victim=$!
sleep 0.2
{nobody} {scribbles} {seconds} free || exit 99
kill -USR1 $victim
wait $victim
"""


class SharedMemory(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, for processes of two users")

    def test_ring_positions_of_another_process_are_overwritten_all_the_time(self):
        """Where address space is limited, the program's own memory lies behind a ring."""
        cases = (("perf-trap", "unlimited"), ("timer", "unlimited"), ("perf-trap", 2000000))
        for engine, limit in cases:
            with self.subTest(engine=engine, limit=limit):
                self.need_engine(engine)
                script = SCRIPT.format(victim=rec.target("brief_threads"), nobody=NOBODY,
                                       limit=limit, scribbles=rec.target("scribbles"),
                                       seconds=SECONDS)
                run = self.record("sh", "-c", script, timeout=SECONDS + rec.TIMEOUT_S,
                                  rec_options=["-q", "-F", "9999", f"--engine={engine}"])
                self.assertEqual(run.status, 128 + 12, run.stderr)  # SIGUSR2: it ran until then
                self.assertGreater(run.count("samples"), 0)

    def test_slots_of_running_threads_are_declared_free_all_the_time(self):
        """Each new thread runs its own start routine, once."""
        for engine in ("perf-trap", "timer"):
            with self.subTest(engine=engine):
                self.need_engine(engine)
                script = FREED.format(victim=rec.target("starts_each"), nobody=NOBODY,
                                      scribbles=rec.target("scribbles"), seconds=SECONDS)
                run = self.record("sh", "-c", script, timeout=SECONDS + rec.TIMEOUT_S,
                                  rec_options=["-q", f"--engine={engine}"])
                self.assertEqual(run.status, 0, run.stderr)


if __name__ == "__main__":
    rec.main()

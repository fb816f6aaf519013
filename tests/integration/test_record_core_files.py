#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that crashes while it is sampled leaves the core file that it leaves without rec: the shared memory is not in
it, and a debugger sees the same crash."""
import os
import re
import shutil
import signal
import subprocess

import rec

MOST_MORE_BYTES = 1 << 20
INNERMOST = 5


class CoreFiles(rec.Case):
    def setUp(self):
        super().setUp()
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
            if file.read()[:1] in "|/":
                self.skipTest("core files do not go to the working directory here")

    def crash(self, command, prefix=()):
        """(what the run was, its core file)"""
        directory = self.new_directory()
        run = self.run_in(directory, ["bash", "-c", "ulimit -c unlimited && exec \"$@\"", "-", *prefix, *command])
        cores = [name for name in os.listdir(directory) if name.startswith("core")]
        self.assertEqual(len(cores), 1, run.stderr)
        return run, os.path.join(directory, cores[0])

    def backtrace(self, program, core):
        """What ended it, and the functions of its innermost frames; empty without a debugger."""
        if not shutil.which("gdb"):
            return []
        done = subprocess.run(["gdb", "-batch", "-nx", "-ex", f"bt {INNERMOST}", program, core], capture_output=True,
                              text=True, timeout=60)
        lines = re.findall(r"^(?:Program terminated with (.*)|#\d+ .*?\b(\w+) \()", done.stdout, re.M)
        self.assertGreater(len(lines), 2, done.stdout + done.stderr)
        return lines

    def same(self, *command):
        bare, bare_core = self.crash(command)
        self.assertEqual(bare.status, -signal.SIGSEGV)
        for engine in rec.ENGINES:
            with self.subTest(command=command[1:], engine=engine):
                self.need_engine(engine)
                run, core = self.crash(command, [rec.REC, "-q", "-F", "9999", f"--engine={engine}", "-o", "rec.data",
                                                 "--"])
                self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout), run.stderr)
                self.assertGreater(run.count("samples"), 5)
                sizes = [os.stat(path).st_blocks * 512 for path in (bare_core, core)]
                self.assertLess(abs(sizes[1] - sizes[0]), MOST_MORE_BYTES, sizes)
                self.assertEqual(self.backtrace(command[0], core), self.backtrace(command[0], bare_core))
                os.unlink(core)

    def test_of_a_write_to_nowhere(self):
        self.same(rec.target("dump_core"), "200")

    def test_of_a_stack_that_overflows(self):
        for how in ("main", "thread", "small"):
            self.same(rec.target("overflow"), how)


if __name__ == "__main__":
    rec.main()

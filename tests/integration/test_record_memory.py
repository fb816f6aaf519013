#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording of any length needs no more memory and descriptors than a short one."""
import ctypes
import resource
import sys

import rec

PYTHON = "/usr/bin/python3"
PROGRAMS = 4800  # the allocator takes 3000 of them to settle
LOOKS = 40  # after two thirds of the programs, and at the end

# An eighth of them may hold deleted programs. They do by the first looks, as rec knows as many files as it remembers.
DESCRIPTORS = 512


PR_SET_THP_DISABLE = 41


# Large pages come 2 MB at a time, which is more than what is to be seen.
def few_descriptors_and_small_pages():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


# Each program is a file of its own, as the tests of a build are, and runs once long enough for its tables. rec is
# this script's parent.
BUILD = f"""
LOOKS = {LOOKS}
""" + """
import os, shutil, subprocess, sys
program, count = sys.argv[1], int(sys.argv[2])

def look():
    parent = os.getppid()
    status = dict(line.split(":", 1) for line in open(f"/proc/{parent}/status"))
    print(int(status["RssAnon"].split()[0]), len(os.listdir(f"/proc/{parent}/fd")))

for i in range(count):
    name = f"./program{i}"
    shutil.copy(program, name)
    subprocess.run([name, "2"], check=True)
    subprocess.run([name, "0"], check=True, env={})
    os.unlink(name)
    if i // LOOKS in (count // LOOKS * 2 // 3, count // LOOKS - 1):
        look()
"""


class Flat(rec.Case):
    def test_thousands_of_short_programs(self):
        self.need_program(PYTHON)
        run = self.recorded(PYTHON, "-c", BUILD, rec.target("short_run"), str(PROGRAMS),
                            timeout=280, preexec_fn=few_descriptors_and_small_pages)
        looks = [tuple(map(int, line.split())) for line in run.stdout.decode().splitlines()]
        self.assertEqual(len(looks), 2 * LOOKS)
        # What programs hold that have just ended comes and goes, on a busy machine later: the least counts.
        (early_kb, early_fds), (late_kb, late_fds) = (
            map(min, zip(*some)) for some in (looks[:LOOKS], looks[LOOKS:]))
        print(f"anonymous memory {early_kb} kB, later {late_kb} kB; "
              f"descriptors {early_fds}, later {late_fds}", file=sys.stderr)
        self.assertGreaterEqual(run.count("processes"), PROGRAMS)
        # 500 bytes a program; the allocator itself was seen to take 450 kB more, and none in the next run.
        self.assertLess(late_kb, early_kb + 800)
        self.assertLess(late_fds, early_fds + 32)


if __name__ == "__main__":
    rec.main()

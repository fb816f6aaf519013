#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An environment that lies about rec, and rec under rec: programs run as they would, with a line at most."""
import os
import subprocess

import rec

SAMPLER = os.path.join(os.path.dirname(rec.REC), "librec-sampler.so")
SESSIONS = ("", "x", "::::", "1:2:3:4", "1:2:3:4:0", "0:1:2:0:0", "900:901:1:ffffffffffffffff:0", "900:901:1:",
            "18446744073709551616:99999999999999999999:1:1:0", "-1:-1:-1:-1:0", "3:4:1:g:0",
            "0:1:2:0:ffffffffffffffffffff", "a" * 100000)
# As large as the two shared memories, and full of nothing.
SAME_SIZE = """
import os, re, sys
sizes = {}
for line in open("/proc/self/maps"):
    found = re.search(r"(\\w+)-(\\w+) .* /memfd:rec-(tables|requests)", line)
    if found:
        sizes[found[3]] = int(found[2], 16) - int(found[1], 16)
fds = []
for name in ("tables", "requests"):
    fds.append(os.memfd_create(name, 0))
    os.ftruncate(fds[-1], sizes[name])
environment = dict(os.environ, LD_PRELOAD=sys.argv[1], REC_SESSION=f"{fds[0]}:{fds[1]}:{os.getppid()}:0:0")
pid = os.posix_spawn(sys.argv[2], [sys.argv[2], "20"], environment)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""

# What would make rec fault that reads this memory, or another program that does.
SHRINKS = """
import fcntl, mmap, os
def refused(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        return True
for name in os.listdir("/proc/self/fd"):
    try:
        link = os.readlink("/proc/self/fd/" + name)
    except OSError:
        continue
    if link.startswith("/memfd:rec-"):
        fd = int(name)
        bytes = os.fstat(fd).st_size
        print(link, refused(os.ftruncate, fd, 0), refused(os.ftruncate, fd, bytes + 4096),
              refused(fcntl.fcntl, fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
              "tables" not in link or refused(mmap.mmap, fd, 4096))
for i in range(60):
    sum(range(100000))
"""


class Hostile(rec.Case):
    def test_the_shared_memory_keeps_its_size_and_its_tables(self):
        python = self.need_program("/usr/bin/python3")
        run = self.recorded(python, "-c", SHRINKS, rec_options=["-q"])
        self.assertEqual(sorted(run.stdout.decode().splitlines()),
                         [f"/memfd:rec-{name} (deleted) True True True True" for name in ("requests", "tables")])
        self.assertGreater(run.count("samples"), 10)

    def test_a_session_that_is_none(self):
        for session in SESSIONS:
            with self.subTest(session=session[:40]):
                environment = dict(os.environ, LD_PRELOAD=SAMPLER, REC_SESSION=session)
                run = self.bare(rec.target("short_run"), "1", env=environment)
                self.assertEqual((run.status, run.stdout, run.stderr), (0, b"", b""))
                run = self.recorded(rec.target("short_run"), "100", rec_options=["-q"],
                                    env=environment)
                self.assertEqual(run.stderr, b"")
                self.assertGreater(run.count("samples"), 0)

    def test_descriptors_of_the_right_size_that_are_something_else(self):
        python = self.need_program("/usr/bin/python3")
        run = self.recorded(python, "-c", SAME_SIZE, SAMPLER, rec.target("short_run"),
                            rec_options=["-q"])
        self.assertEqual(run.stderr, b"")

    def test_a_session_that_is_over(self):
        run = self.recorded("sh", "-c", "cat /proc/self/environ", rec_options=["-q"])
        session = [entry for entry in run.stdout.decode().split("\0")
                   if entry.startswith("REC_SESSION=")][0]
        environment = dict(os.environ, LD_PRELOAD=SAMPLER, REC_SESSION=session.split("=", 1)[1])
        run = self.bare(rec.target("short_run"), "1", env=environment)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"", b""))

    def test_rec_under_rec(self):
        for outer in ([rec.REC, "-q", "-o", "outer.data", "--"],
                      [rec.REC, "-q", "-o", "outer.data", "--", "bash", "-c", '"$@"; exit $?', "-"]):
            directory = self.new_directory()
            run = self.run_in(directory, [*outer, rec.REC, "-q", "--", "sh", "-c",
                                          f"{rec.target('short_run')} 300; exit 7"])
            self.assertEqual(run.status, 7, run.stderr)
            self.assertEqual(run.stderr, b"")
            self.assertGreater(run.share_of("burn_until_ns"), 50)
            done = subprocess.run([rec.REC, "info", "outer.data"], cwd=directory, text=True,
                                  capture_output=True, check=True)
            self.assertIn("recorded by another rec", done.stdout)


if __name__ == "__main__":
    rec.main()

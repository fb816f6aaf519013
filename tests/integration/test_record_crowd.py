#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Descriptors and memory of the launcher stay within the documented limits, whatever the number of processes."""
import os
import re
import subprocess
import threading
import time

import rec

IN_SEQUENCE = rec.figure(1500, 10000)
AT_ONCE = 2000
# Children that live until the last one exists.
CROWD = f"""
import os
reader, writer = os.pipe()
for _ in range({AT_ONCE}):
    if os.fork() == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
os.close(writer)
for _ in range({AT_ONCE}):
    os.wait()
"""
SEQUENCE = f"i=0; while [ $i -lt {IN_SEQUENCE} ]; do /bin/true; i=$((i+1)); done"
# The launcher without processes: its tables, threads and files.
FILES = 60
MIB = 96


class Launcher(threading.Thread):
    """Watches a rec: the most descriptors and resident memory."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.files, self.mib = pid, 0, 0

    def run(self):
        while True:
            try:
                self.files = max(self.files, len(os.listdir(f"/proc/{self.pid}/fd")))
                with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
                    resident = re.search(r"VmRSS:\s+(\d+)", status.read())
            except OSError:
                return
            if not resident:  # a zombie
                return
            self.mib = max(self.mib, int(resident.group(1)) / 1024)
            time.sleep(0.02)


class Crowd(rec.Case):
    def watched(self, engine, *command):
        self.need_engine(engine)
        directory = self.new_directory()
        done = subprocess.Popen([rec.REC, "record", f"--engine={engine}", "-o", "rec.data", "--", *command],
                                cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        launcher = Launcher(done.pid)
        launcher.start()
        stderr = done.communicate(timeout=5 * rec.TIMEOUT_S)[1]
        launcher.join()
        self.assertEqual(done.returncode, 0, stderr)
        return rec.Run(subprocess.CompletedProcess([], 0, b"", stderr), directory, 0), launcher

    def test_processes_in_sequence_leave_nothing_behind(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run, launcher = self.watched(engine, "sh", "-c", SEQUENCE)
                self.assertGreaterEqual(run.count("processes") + unanswered(run), IN_SEQUENCE)
                self.assertLess(launcher.files, FILES + 100)  # some end before the launcher sees it
                self.assertLess(launcher.mib, MIB)

    def test_two_thousand_at_once(self):
        """Each is recorded, or named."""
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run, launcher = self.watched(engine, "python3", "-c", CROWD)
                self.assertGreater(len(run.info["processes"]), AT_ONCE / 20)
                self.assertGreaterEqual(run.count("processes") + unanswered(run), AT_ONCE + 1)
                self.assertLess(launcher.files, FILES + 2 * AT_ONCE)
                self.assertLess(launcher.mib, MIB + AT_ONCE * 0.1)


def unanswered(run):
    """Processes named in the summary. At least: a count beyond the list stands for one more."""
    count = int(run.summary.get("not_followed.more", 0))
    for key, value in run.summary.items():
        crowd = re.match(r"\S+ (\d+)\\x20processes", value)
        if key.startswith("not_followed.") and crowd:
            count += int(crowd.group(1))
        elif re.fullmatch(r"not_followed\.\d+", key):
            count += 1
    return count


if __name__ == "__main__":
    rec.main()

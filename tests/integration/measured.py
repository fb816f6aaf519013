# SPDX-License-Identifier: MIT
"""One run of `rec` with its CPU time and memory, children included.

    run = measured.Run(directory, ["convert", "rec.data", "-o", "out.folded"])
    run.status, run.stderr, run.cpu_s, run.bytes
"""
import os
import subprocess
import time

import rec

WALL_S = rec.TIMEOUT_S  # on a busy machine


class Run:
    def __init__(self, directory, words, wall_s=WALL_S):
        self.words = words
        with open(os.path.join(directory, "stderr"), "w+b") as errors:
            process = subprocess.Popen([rec.REC, *words], cwd=directory, stdout=subprocess.DEVNULL, stderr=errors)
            end = time.monotonic() + wall_s
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    process.kill()
                time.sleep(0.002)
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            self.stderr = errors.read()
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.bytes = usage.ru_maxrss * 1024

# SPDX-License-Identifier: MIT
"""Waits and delays by `perf sched record` and `perf sched timehist`, as root.

    with perf_sched.Recording(directory) as sched:
        ...
    sched.threads()[tid]   ->  Times(waiting, runnable, on, end), ns

timehist prints a line at the end of each turn: the time off the processor before, the part of it after the wake-up
(`sched_waking`), and the state at the end. A gap after a preemption is runnable time, all of it. The time of a command
before its exec has another name; it is left out.

* The last turn of a reaped thread has the id -1 in perf's records: the lines of a thread end before, at `end`
  (CLOCK_MONOTONIC), often without its last and longest wait.
* A wake-up of a thread that was about to wait, and did not, counts until the next turn: the delay is longer than the
  gap. Such a gap is waiting time, all of it: its wake-up is unknown. So it is if perf has lost the wake-up.
* Lost switches leave time out: the sums of a thread are less than its life.
"""
import collections
import os
import re
import shutil
import signal
import subprocess
import time

LINE = re.compile(r"^ *(?P<s>\d+)\.(?P<us>\d{6}) \[\d+\]  (?P<name>.*)\[(?P<tid>\d+)(?:/\d+)?\] +"
                  r"(?P<off>[\d.]+) +(?P<delay>[\d.]+) +(?P<on>[\d.]+) +(?P<state>\S)")
PREEMPTED = "RW"  # `perf` 6.1 has W for the kernel's TASK_REPORT_MAX
NS = 10**6
BUFFER_PAGES = 4096  # of a processor
Times = collections.namedtuple("Times", "waiting runnable on end")


def is_available():
    return os.geteuid() == 0 and shutil.which("perf") is not None


class Recording:
    def __init__(self, directory):
        self.path = os.path.join(directory, "sched.data")

    def __enter__(self):
        self.perf = subprocess.Popen(
            ["perf", "sched", "record", "-k", "mono", "-m", str(BUFFER_PAGES), "-o", self.path, "--", "sleep", "1000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
            time.sleep(0.05)
        time.sleep(0.3)  # the events are enabled after the header is written
        return self

    def __exit__(self, *_):
        os.killpg(self.perf.pid, signal.SIGINT)
        self.errors = self.perf.communicate()[1]

    def lines(self):
        found = subprocess.run(["perf", "sched", "timehist", "-i", self.path, "--state"],
                               capture_output=True, text=True, errors="replace", check=True)
        return found.stdout.splitlines()

    def threads(self, rec_name="rec"):
        """By tid."""
        sums, states = collections.defaultdict(lambda: [0, 0, 0, 0]), {}  # as in Times
        for line in self.lines():
            found = LINE.match(line)
            if not found:
                continue
            tid, off, delay = int(found["tid"]), float(found["off"]) * NS, float(found["delay"]) * NS
            before, states[tid] = states.get(tid), found["state"]
            if found["name"] == rec_name:
                sums[tid] = [0, 0, 0, 0]
                continue
            thread = sums[tid]
            if before and before in PREEMPTED:
                delay = off
            delay = delay if delay <= off else 0
            thread[0] += off - delay
            thread[1] += delay
            thread[2] += float(found["on"]) * NS
            thread[3] = int(found["s"]) * 10**9 + int(found["us"]) * 1000
        return {tid: Times(*map(int, thread)) for tid, thread in sums.items()}

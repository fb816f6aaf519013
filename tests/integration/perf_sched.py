# SPDX-License-Identifier: MIT
"""Waits and delays by `perf sched record` and `perf sched timehist`, as root.

    with perf_sched.Recording(directory) as sched:
        ...
    sched.threads()[tid]   ->  Times(waiting, runnable, on, end), ns
    sched.unseen()[tid]    ->  Unseen(waiting, runnable, turns): time that timehist has as `on`, ns

timehist prints a line at the end of each turn: the time off the processor before, the part of it after the wake-up
(`sched_waking`), and the state at the end. A gap after a preemption is runnable time, all of it. The time of a command
before its exec has another name; it is left out.

* The last turn of a reaped thread has the id -1 in perf's records: the lines of a thread end before, at `end`
  (CLOCK_MONOTONIC), often without its last and longest wait.
* A wake-up of a thread that was about to wait, and did not, counts until the next turn: the delay is longer than the
  gap. Such a gap is waiting time, all of it: its wake-up is unknown. So it is if perf has lost the wake-up.
* Lost switches leave time out: the sums of a thread are less than its life.
* perf has no event for many switches from an idle processor (297 of 1325 on an idle machine, without a record of a loss):
  the processor's switch before the end of such a turn has another next thread, and timehist counts the turn from there.
  The `sched_stat_runtime` of the same file tell how much of it the thread ran.
"""
import bisect
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
EVENT = re.compile(r"^ *(?P<name>.*?) +(?P<tid>-?\d+) +\[(?P<cpu>\d+)\] +(?P<s>\d+)\.(?P<ns>\d{9}): +"
                   r"sched:(?P<event>\w+): (?P<text>.*)$")
SWITCH = re.compile(r"prev_pid=(-?\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .* next_pid=(\d+) ")
PID, RUNTIME = re.compile(r"\bpid=(\d+) "), re.compile(r" pid=(\d+) runtime=(\d+) ")
Unseen = collections.namedtuple("Unseen", "waiting runnable turns")


def is_available():
    return os.geteuid() == 0 and shutil.which("perf") is not None


class Turns:
    """The turns whose beginning perf does not have."""

    def __init__(self, rec_name):
        self.rec_name, self.last = rec_name, {}  # by processor: the time of the last switch, its next thread
        self.since, self.states, self.wakings = {}, {}, {}  # by tid; since: the last switch, or the start
        self.runtimes = collections.defaultdict(list)  # by tid: (time, CPU time)
        self.found = collections.defaultdict(lambda: [0, 0, 0])  # by tid, as in Unseen

    def ran(self, tid, start, end):
        """Without what an update of the account has from before `start`."""
        runs = self.runtimes[tid]
        return sum(min(cpu, time - start) for time, cpu in runs[bisect.bisect_right(runs, (start, 0)):] if time <= end)

    def add_unseen(self, tid, start, end):
        unseen = max(0, end - start - self.ran(tid, start, end))
        waking = self.wakings.get(tid, 0)
        waiting = unseen
        if self.states.get(tid, "S").startswith("R"):
            waiting = 0
        elif start < waking < end:
            waiting = min(unseen, waking - start)
        found = self.found[tid]
        for i, time in enumerate((waiting, unseen - waiting, 1)):
            found[i] += time

    def switch(self, now, cpu, name, text):
        before, state, after = SWITCH.search(text).groups()
        start, expected = self.last.get(cpu, (now, before))
        start = max(start, self.since.get(int(before), 0))
        self.last[cpu] = now, after
        if name == self.rec_name:
            self.found.pop(int(before), None)
        elif expected != before and before not in ("0", "-1"):
            self.add_unseen(int(before), start, now)
        self.since[int(before)], self.states[int(before)] = now, state

    def take(self, line):
        event = EVENT.match(line)
        if not event:
            return
        now, text = int(event["s"]) * 10**9 + int(event["ns"]), event["text"]
        if event["event"] == "sched_switch":
            self.switch(now, event["cpu"], event["name"], text)
        elif event["event"] == "sched_stat_runtime":
            tid, cpu = RUNTIME.search(text).groups()
            self.runtimes[int(tid)].append((now, int(cpu)))
        elif event["event"] == "sched_wakeup_new":
            self.since[int(PID.search(text)[1])] = now
        elif event["event"] == "sched_waking":
            self.wakings[int(PID.search(text)[1])] = now


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

    def lines(self, *words):
        found = subprocess.run(["perf", *words, "-i", self.path], capture_output=True, text=True, errors="replace",
                               check=True)
        return found.stdout.splitlines()

    def unseen(self, rec_name="rec"):
        """By tid."""
        turns = Turns(rec_name)
        for line in self.lines("script", "-F", "comm,cpu,tid,time,event,trace", "--ns"):
            turns.take(line)
        return collections.defaultdict(lambda: Unseen(0, 0, 0),
                                       {tid: Unseen(*found) for tid, found in turns.found.items()})

    def threads(self, rec_name="rec"):
        """By tid."""
        sums, states = collections.defaultdict(lambda: [0, 0, 0, 0]), {}  # as in Times
        for line in self.lines("sched", "timehist", "--state"):
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

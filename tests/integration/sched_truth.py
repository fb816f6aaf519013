# SPDX-License-Identifier: MIT
"""When threads had a processor, by the kernel's scheduler tracepoints: an instance of ftrace, as root, independent of rec.

    with sched_truth.Recording() as truth:
        ...
    thread = truth.threads()[tid]
    thread.between(start_ns, end_ns)   ->  Times(cpu, waiting, runnable, stolen, waking), ns of CLOCK_MONOTONIC

A thread waits from the switch that takes its processor in a sleeping state to the wake-up, and is runnable from the
wake-up, or from a preemption, to the next switch: `perf sched timehist` sums the same intervals. `perf record` of the
same events loses single wake-ups without a record of the loss: a sum of 436.6 ms in schedstat had 436.9 ms by ftrace,
and 424.4 ms by perf. In virtual machines, 0.3 % of the switches have no event.

Only threads of the caller's descendants have events, so a storm of switches beside them loses none: the kernel adds a
forked child to the list of threads (`event-fork`). `sched_stat_runtime` cannot follow this list, which is compared with the
current thread: a wake-up from another processor brings the account of the thread there up to date. That event has an
instance of its own, for the threads with higher numbers than the last one before, and for low numbers, which follow the
highest one.

sched_wakeup comes after the interrupt for another processor was sent, which takes 7 us on average in a virtual machine, up
to 24 us; the scheduler's account has the thread as runnable before. sched_waking comes before both: `waking` is the part
of the waiting time that the account may have as runnable.
"""
import bisect
import collections
import os
import re
import subprocess

EVENTS = ("sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup", "sched/sched_wakeup_new",
          "sched/sched_process_fork", "task/task_rename")
RUNTIME_EVENT = "sched/sched_stat_runtime"
TRACING = "/sys/kernel/tracing"
BUFFER_KB = 60000  # for each processor
LINE = re.compile(r"^ *.+-\d+ +\[\d+\] \S+ +(?P<s>\d+)\.(?P<us>\d{6}): (?P<event>\w+): (?P<text>.*)$")
SWITCH = re.compile(r"prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .* next_pid=(\d+) ")
PID = re.compile(r"\bpid=(\d+) ")
CHILD = re.compile(r"\bchild_pid=(\d+)")
RUNTIME = re.compile(r" pid=(\d+) runtime=(\d+) ")
ON, WAITING, RUNNABLE, STOLEN, WAKING = "cpu", "waiting", "runnable", "stolen", "waking"
# The account of a turn and its tracepoints differ by some microseconds. A larger difference is time of a virtual
# machine without a physical processor.
STOLEN_MIN_NS = 300_000
Times = collections.namedtuple("Times", (ON, WAITING, RUNNABLE, STOLEN, WAKING))
Change = collections.namedtuple("Change", "time state")
Run = collections.namedtuple("Run", "end cpu")


def is_available():
    """A fresh machine has no tracefs until somebody mounts it, as perf does."""
    if os.geteuid() == 0 and not os.path.isdir(os.path.join(TRACING, "instances")):
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], stderr=subprocess.DEVNULL, check=False)
    return os.geteuid() == 0 and os.path.isdir(os.path.join(TRACING, "instances"))


class Thread:
    def __init__(self):
        self.changes = []  # states from these times on
        self.runs = []     # CPU time up to these times, of the scheduler's account
        self.waking_ns = None
        self.wakings = []  # from sched_waking to sched_wakeup
        self.exec_ns = None

    def turns(self):
        return sum(change.state == ON for change in self.changes)

    def state(self):
        return self.changes[-1].state if self.changes else None

    def lose_processor(self, now, state):
        if self.changes and self.state() != ON:  # this switch has no event: the account began then
            starts = [run.end - run.cpu for run in self.runs if self.changes[-1].time < run.end <= now]
            self.changes.append(Change(max(self.changes[-1].time, min(starts, default=now)), ON))
        self.changes.append(Change(now, state))

    def wake(self, now):
        if self.state() not in (WAITING, None):
            return
        if self.changes and self.waking_ns is not None:
            self.wakings.append((max(self.waking_ns, self.changes[-1].time), now))
        self.changes.append(Change(now, RUNNABLE))

    def intervals(self, start_ns, end_ns):
        ends = [change.time for change in self.changes[1:]] + [end_ns]
        for change, end in zip(self.changes, ends):
            if end > start_ns and change.time < end_ns:
                yield change.state, max(change.time, start_ns), min(end, end_ns)

    def account(self, start_ns, end_ns):
        sum_ns = 0
        first = bisect.bisect_right(self.runs, start_ns, key=lambda run: run.end)
        for i in range(first, len(self.runs)):
            run = self.runs[i]
            if run.end - run.cpu >= end_ns:
                break
            sum_ns += min(run.end, end_ns) - max(run.end - run.cpu, start_ns)
        return sum_ns

    def between(self, start_ns, end_ns):
        sums = dict.fromkeys(Times._fields, 0)
        for state, begin, end in self.intervals(start_ns, end_ns):
            sums[state] += end - begin
            stolen = end - begin - self.account(begin, end) if state == ON else 0
            sums[STOLEN] += stolen if stolen > STOLEN_MIN_NS else 0
        sums[ON] = self.account(start_ns, end_ns)
        sums[WAKING] = sum(end - begin for begin, end in self.wakings if start_ns <= begin and end <= end_ns)
        return Times(**sums)

    def delay_ns(self, start_ns, end_ns):
        """As the scheduler's account grows in this time: by the whole of a runnable interval, at its end."""
        return sum(end - begin for state, begin, end in self.intervals(0, end_ns)
                   if state == RUNNABLE and start_ns < end < end_ns)

    def start_ns(self, is_command):
        """The records of a command begin with its exec, those of other threads with the fork: their first wake-up comes
        milliseconds later on a busy machine."""
        return self.exec_ns if is_command else self.changes[0].time


class Instance:
    """A buffer of ftrace, with events of its own."""

    def __init__(self, name, events):
        self.path = os.path.join(TRACING, "instances", f"rec-test-{os.getpid()}-{name}")
        self.events = events

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def open(self):
        os.mkdir(self.path)
        self.write("tracing_on", "0")
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", str(BUFFER_KB))

    def start(self):
        for event in self.events:
            self.write(f"events/{event}/enable", "1")
        self.write("tracing_on", "1")

    def stop(self):
        """The lines, and the number of lost events."""
        self.write("tracing_on", "0")
        lost = [re.search(r"(?m)^overrun: (\d+)", self.read(f"per_cpu/{processor}/stats"))[1]
                for processor in os.listdir(os.path.join(self.path, "per_cpu"))]
        return self.read("trace").splitlines(), sum(map(int, lost))

    def close(self):
        if os.path.isdir(self.path):
            os.rmdir(self.path)


class Recording:
    def __init__(self):
        self.runtimes, self.changes = Instance("runtimes", (RUNTIME_EVENT,)), Instance("changes", EVENTS)
        self.lines = []

    def __enter__(self):
        with open("/proc/loadavg", encoding="ascii") as file:
            last_pid = int(file.read().split()[-1])
        for instance in (self.runtimes, self.changes):
            instance.open()
        self.runtimes.write(f"events/{RUNTIME_EVENT}/filter", f"pid > {last_pid} || pid < {last_pid // 2}")
        self.changes.write("options/event-fork", "1")
        self.changes.write("set_event_pid", str(os.getpid()))
        for instance in (self.runtimes, self.changes):
            instance.start()
        return self

    def __exit__(self, *_):
        try:
            runtimes, runtimes_lost = self.runtimes.stop()
            changes, changes_lost = self.changes.stop()
        finally:
            self.runtimes.close()
            self.changes.close()
        if runtimes_lost or changes_lost:
            raise AssertionError(f"ftrace has lost {runtimes_lost} and {changes_lost} scheduler events")
        self.lines = runtimes + changes

    def threads(self):
        """By tid."""
        threads = collections.defaultdict(Thread)
        for line in self.lines:
            found = LINE.match(line)
            if found:
                take(threads, found["event"], int(found["s"]) * 10**9 + int(found["us"]) * 1000, found["text"])
        return threads


def take(threads, event, now, text):
    if event == "sched_switch":
        before, state, after = SWITCH.search(text).groups()
        threads[int(before)].lose_processor(now, RUNNABLE if state.startswith("R") else WAITING)
        threads[int(after)].changes.append(Change(now, ON))
    elif event == "sched_stat_runtime":
        tid, runtime = RUNTIME.search(text).groups()
        threads[int(tid)].runs.append(Run(now, int(runtime)))
    elif event == "sched_process_fork":
        threads[int(CHILD.search(text)[1])].changes.append(Change(now, RUNNABLE))
    elif event == "sched_wakeup_new":
        threads[int(PID.search(text)[1])].changes.append(Change(now, RUNNABLE))
    elif event == "sched_waking":
        threads[int(PID.search(text)[1])].waking_ns = now
    elif event == "sched_wakeup":
        threads[int(PID.search(text)[1])].wake(now)
    elif event == "task_rename":
        thread = threads[int(PID.search(text)[1])]
        thread.exec_ns = thread.exec_ns or now

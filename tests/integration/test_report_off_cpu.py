#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded waits in the views of `rec report`, in `rec info` and in the summary."""
import json
import os
import re
import subprocess

import rec
import sched_truth

AFTER = "400ms"
PYTHON = """
import threading, time
lock = threading.Lock()
def work():
    for _ in range(20):
        with lock:
            time.sleep(0.005)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sum(range(20_000_000))
"""

# The C library's own function, behind the sampler's hook, as jemalloc starts its threads.
UNHOOKED = """
import ctypes, time
libc = ctypes.CDLL("libc.so.6")
libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.pause, None)
time.sleep(1.5)
"""

# A deadlock, a thread in read(), and one of nice 19 beside two busy loops. Prints the process in read() and the latter.
STUCK = """
import os, signal, subprocess, sys
os.setpriority(os.PRIO_PROCESS, 0, 0)
def start_loop(nice):
    if not (child := os.fork()):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        os.nice(nice)
        while True: pass
    return child
def end(*_):
    for child in children: os.kill(child, signal.SIGKILL)
    os._exit(0)
children = [subprocess.Popen(sys.argv[1:]).pid, start_loop(0), start_loop(0), start_loop(19)]
signal.signal(signal.SIGTERM, end)
print(os.getpid(), children[-1], flush=True)
os.read(os.pipe()[0], 1)
"""
STUCK_MS, NEAR_NS, RUNS_MAX = 20, 50_000_000, 5


class OffCpu(rec.Case):
    def view(self, run, command, *words):
        done = subprocess.run([rec.REC, command, run.path(), *words], capture_output=True, text=True,
                              timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_deadlock_is_named_with_threads_reason_and_age(self):
        run = self.record(rec.target("deadlock"), rec_options=[
            "--off-cpu", "--stuck-after", AFTER, "--duration", "1s", "--end-command"])
        self.assertRegex(run.stderr.decode(), r"waiting at the end: \S+ \(\d+\), for \S+ .*: (lock|join) in ")
        threads = json.loads(self.view(run, "report", "--stuck-after", AFTER, "--json"))["threads"]
        locks = [thread for thread in threads if thread["reason"] == "lock"]
        self.assertEqual(len(locks), 2, threads)
        end_ns = max(thread["start_ns"] + thread["age_ns"] for thread in threads)
        for thread in threads:
            self.assertTrue(thread["is_at_end"], thread)
            self.assertLess(end_ns - thread["start_ns"] - thread["age_ns"], 50_000_000, thread)
        self.assertIn("pthread_mutex_lock", " ".join(locks[0]["calls"]))
        for thread, holder in (locks, reversed(locks)):
            self.assertRegex(thread["object"], rf"^0x[0-9a-f]+, held by {holder['tid']} {holder['name']}$")
        self.assertIn("lock; 1 thread", self.view(run, "report", "--stuck-after", AFTER))

    def test_summary_and_report_count_the_same_threads(self):
        run = self.record("/usr/bin/python3", "-c", UNHOOKED, rec_options=["--off-cpu"])
        counts = [re.search(r"\b(\d+) threads", text).group(1)
                  for text in (run.stderr.decode(), self.view(run, "report"))]
        self.assertEqual(counts, ["2", "2"])

    def stuck_threads(self):
        """The run, the reported threads by tid, and the threads as the scheduler's tracepoints have them. rec has priority:
        the command must see the end of the recording at once."""
        with sched_truth.Recording() as truth:
            run = self.record("/usr/bin/python3", "-c", STUCK, rec.target("deadlock"),
                              rec_options=["--off-cpu", "--duration", "1500ms", "--end-command"],
                              preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, -15))
        threads = json.loads(self.view(run, "report", "--stuck-after", f"{STUCK_MS}ms", "--json"))["threads"]
        return run, {thread["tid"]: thread for thread in threads if thread["is_at_end"]}, truth.threads()

    @staticmethod
    def ages_at(thread, end_ns):
        """Of its times off the processor: the recording has ended shortly before."""
        return [end_ns - begin for state, begin, end in thread.intervals(0, end_ns)
                if state != sched_truth.ON and end > end_ns - NEAR_NS]

    def test_ages_are_those_of_the_scheduler(self):
        if not sched_truth.is_available():
            self.skipTest("the scheduler's tracepoints need root, and tracefs")
        for _ in range(RUNS_MAX):
            run, reported, truth = self.stuck_threads()
            reader, starved = map(int, re.search(rb"(\d+) (\d+)", run.stdout).groups())
            end_ns = max(change.time for change in truth[reader].changes if change.state == sched_truth.RUNNABLE)
            for tid, thread in reported.items():
                ages_ns = self.ages_at(truth[tid], end_ns)
                print(f"  {thread['name']}, {thread['reason']}: {thread['age_ns'] / 1e6:.2f} ms,",
                      ", ".join(f"{age_ns / 1e6:.2f}" for age_ns in ages_ns))
                age_ns = min(ages_ns, key=lambda age_ns, is_of=thread["age_ns"]: abs(age_ns - is_of), default=0)
                self.assert_within(thread["age_ns"], age_ns, NEAR_NS, thread)
            self.assertEqual(reported[reader]["reason"], "read")
            self.assertEqual(reported[reader]["object"], "pipe")
            locks = [thread for thread in reported.values() if thread["reason"] == "lock"]
            self.assertEqual(len(locks), 2, reported)
            for thread, holder in (locks, reversed(locks)):
                self.assertRegex(thread["object"], rf"^0x[0-9a-f]+, held by {holder['tid']} {holder['name']}$")
            if starved in reported:
                self.assertEqual(reported[starved]["reason"], "runnable")
                return
            self.assertLess(min(self.ages_at(truth[starved], end_ns), default=0), STUCK_MS * 1e6 + NEAR_NS)
        self.fail(f"the thread of nice 19 had a processor at the end of {RUNS_MAX} recordings")

    def test_times_of_threads_add_up_in_every_view(self):
        run = self.record("/usr/bin/python3", "-c", PYTHON, rec_options=["--off-cpu"])
        threads = json.loads(self.view(run, "info", "--json"))["threads"]
        self.assertEqual(len(threads), 4)
        off_ns = 0
        for thread in threads:
            parts_ns = sum(thread[key] for key in ("cpu_ns", "waiting_ns", "runnable_ns"))
            self.assert_within(parts_ns / 1e6, thread["lifetime_ns"] / 1e6,
                               10 + thread["lifetime_ns"] / 1e6 / 20)
            off_ns += thread["waiting_ns"] + thread["runnable_ns"]
        totals = {metric: json.loads(self.view(run, "report", "--json", "--metric", metric))["total_ns"]
                  for metric in ("cpu", "off-cpu", "wall")}
        self.assertEqual(totals["off-cpu"], off_ns)
        self.assertEqual(totals["cpu"] + totals["off-cpu"], totals["wall"])
        report = json.loads(self.view(run, "report", "--off-cpu", "--idle", "--json"))
        self.assertEqual(report["total_ns"], off_ns)
        reasons = {row["reason"]: row["total_ns"] for row in report["reasons"]}
        # Two of three workers wait for the lock while the third one sleeps.
        self.assertTrue(1.2 < reasons["semaphore"] / reasons["sleep"] < 4, reasons)
        text = self.view(run, "report", "--off-cpu")
        self.assertRegex(text, r"(?m)^ *[\d.]+ %  semaphore: .*threads: ")
        self.assertTrue(re.search(r"(?m)^    time_sleep|^    pysleep", text), text)


if __name__ == "__main__":
    rec.main()

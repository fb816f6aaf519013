#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded waits in the views of `rec report`, in `rec info` and in the summary."""
import json
import re
import subprocess

import rec

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

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files of perf with several events: each one's samples and sums are those that perf script prints."""
import collections
import json
import os
import re
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests/clients"))
import decoders  # noqa: E402
import firefox_strict  # noqa: E402

CODE = "x = [str(i) for i in range(400000)]"


# Each thread waits at one place, for a quarter of a second.
WAITS = """
import os, pty, select, socket, subprocess, threading, time
S = 0.25
def later(function, *words):
    threading.Timer(S, function, words).start()
def write(end, byte=b"x\\n"):
    os.write(end, byte)
def pipe():
    r, w = os.pipe(); later(write, w); os.read(r, 1)
def terminal():
    master, slave = pty.openpty(); later(write, master); os.read(slave, 1)
def full_pipe():
    r, w = os.pipe(); os.set_blocking(w, False)
    while True:
        try: os.write(w, bytes(4096))
        except BlockingIOError: break
    os.set_blocking(w, True); later(os.read, r, 65536); os.write(w, bytes(4096))
def receive():
    a, b = socket.socketpair(); later(b.send, b"x"); a.recv(1)
def accept():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
    later(socket.create_connection, s.getsockname()); s.accept()
def epoll():
    select.epoll().poll(S)
def poll():
    select.poll().poll(S * 1000)
def lock():
    l = threading.Lock(); l.acquire(); l.acquire(timeout=S)
def sleep():
    time.sleep(S)
places = (pipe, terminal, full_pipe, receive, accept, epoll, poll, lock, sleep)
threads = [threading.Thread(target=place) for place in places]
for thread in threads: thread.start()
subprocess.run(["sleep", str(S)])
for thread in threads: thread.join()
"""


class Events(rec.Case):
    def record(self, *options, code=CODE):
        """perf.data of a short Python program; its directory."""
        self.need_program("perf")
        here = self.new_directory()
        done = subprocess.run(["perf", "record", "-q", "-o", "perf.data", *options, "--", "python3",
                               "-c", code], cwd=here, capture_output=True, text=True, timeout=60)
        if done.returncode or not os.path.exists(f"{here}/perf.data"):
            self.skipTest(f"perf record fails here: {done.stderr.strip()}")
        return here

    def rec(self, here, *words):
        done = subprocess.run([rec.REC, *words], cwd=here, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def perf_sums(self, here):
        """{event: [samples, sum of periods]}"""
        done = subprocess.run(["perf", "script", "-i", "perf.data", "-G", "-F", "event,period"],
                              cwd=here, capture_output=True, text=True, timeout=60)
        sums = collections.defaultdict(lambda: [0, 0])
        for period, event in re.findall(r"^\s*(\d+)\s+(\S+?):\s*$", done.stdout, re.MULTILINE):
            sums[event][0] += 1
            sums[event][1] += int(period)
        return sums

    def test_the_kernels_functions_name_the_reason_of_a_wait(self):
        here = self.record("-e", "sched:sched_switch", "-g", code=WAITS)
        report = json.loads(self.rec(here, "report", "--off-cpu", "--json", "perf.data"))
        found = {reason["reason"]: reason["longest_ns"] for reason in report["reasons"]}
        for reason in ("read", "write", "receive", "accept", "poll", "sleep"):
            self.assertGreaterEqual(found.get(reason, 0), 2e8, (reason, found))
        self.assertGreaterEqual(max(found.get("futex", 0), found.get("lock", 0), found.get("semaphore", 0)), 2e8, found)
        self.assertNotIn("unknown", found)

    def test_every_event_is_a_sample_type_with_the_sums_of_perf(self):
        here = self.record("-F", "997", "-e", "page-faults,cpu-clock", "-g")
        self.rec(here, "convert", "perf.data", "-o", "a.pb")
        profile = decoders.Pprof(f"{here}/a.pb")
        expected = self.perf_sums(here)
        self.assertGreater(expected["cpu-clock"][0], 20)
        types = dict(profile.sample_types)
        self.assertEqual(types, {"samples": "count", "cpu": "nanoseconds", "page-faults": "count"})
        sums = [sum(values) for values in zip(*(values for _, values, _ in profile.samples))]
        sums = dict(zip((name for name, _ in profile.sample_types), sums))
        self.assertEqual(sums["samples"], expected["cpu-clock"][0], "samples of the main event")
        self.assertEqual(sums["cpu"], expected["cpu-clock"][1])
        self.assertEqual(sums["page-faults"], expected["page-faults"][1])

    def test_a_stack_is_one_sample_with_the_values_of_all_events(self):
        here = self.record("-c", "1", "-e", "page-faults:u,minor-faults:u", "-g")
        self.rec(here, "convert", "perf.data", "-o", "a.pb")
        profile = decoders.Pprof(f"{here}/a.pb")
        types = [name for name, _ in profile.sample_types]
        all_faults, minor = types.index("page-faults:u"), types.index("minor-faults:u")
        faults = [values for _, values, _ in profile.samples if values[minor]]
        self.assertGreater(len(faults), 100)
        both = [values for values in faults if values[all_faults]]
        # perf does not get all stacks of the same fault alike.
        self.assertGreater(len(both), 0.9 * len(faults))

    def test_report_shows_the_clock_and_names_the_others(self):
        here = self.record("-e", "page-faults,cpu-clock")
        expected = self.perf_sums(here)
        text = self.rec(here, "report", "perf.data")
        self.assertIn("Other events, for --event: page-faults", text)
        report = json.loads(self.rec(here, "report", "--json", "perf.data"))
        self.assertEqual(report["total_ns"], expected["cpu-clock"][1])

    def test_counts_are_not_called_nanoseconds(self):
        here = self.record("-e", "page-faults")
        expected = self.perf_sums(here)["page-faults"]
        report = json.loads(self.rec(here, "report", "--json", "perf.data"))
        self.assertNotIn("total_ns", report)
        self.assertEqual((report["event"], report["total"]), ("page-faults", expected[1]))
        self.assertIn("page-faults in", self.rec(here, "report", "perf.data"))

    def test_firefox_has_rows_for_each_event(self):
        here = self.record("-F", "997", "-e", "cpu-clock,page-faults")
        self.rec(here, "convert", "perf.data", "-o", "a.json")
        expected = self.perf_sums(here)
        with open(f"{here}/a.json", encoding="utf-8") as file:
            threads = json.load(file)["threads"]
        faults = [thread for thread in threads if thread["name"].endswith(" (page-faults)")]
        counted = sum(sum(thread["samples"]["weight"]) for thread in faults)
        self.assertEqual(counted, expected["page-faults"][1])
        main = {(thread["pid"], str(thread["tid"])): thread for thread in threads
                if thread not in faults}
        for thread in faults:
            row = main.get((thread["pid"], str(thread["tid"]).split(".", maxsplit=1)[0]))
            markers = sum(data["count"] for data in row["markers"]["data"]) if row else 0
            if row:
                self.assertEqual(markers, sum(thread["samples"]["weight"]), thread["name"])
        self.assertEqual(firefox_strict.violations(f"{here}/a.json"), [])
        rest = sum(thread["samples"]["length"] for thread in threads if thread not in faults)
        self.assertEqual(rest, expected["cpu-clock"][0])

    def test_markers_of_several_events_are_in_the_order_of_time(self):
        here = self.record("-F", "997", "-e", "cpu-clock,page-faults:u,page-faults")
        self.rec(here, "convert", "perf.data", "-o", "a.json")
        with open(f"{here}/a.json", encoding="utf-8") as file:
            markers = max((thread["markers"] for thread in json.load(file)["threads"]),
                          key=lambda markers: markers["length"])
        self.assertEqual(len(set(markers["name"])), 2, "events of one thread")
        self.assertEqual(markers["startTime"], sorted(markers["startTime"]))

    def test_cpus_are_labels_where_they_were_recorded(self):
        here = self.record("-F", "997", "-e", "cpu-clock", "--sample-cpu")
        self.rec(here, "convert", "perf.data", "-o", "a.pb")
        cpus = {labels["cpu"] for _, _, labels in decoders.Pprof(f"{here}/a.pb").samples}
        self.assertTrue(cpus and cpus <= {str(i) for i in range(os.cpu_count())}, cpus)


if __name__ == "__main__":
    rec.main()

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Parts of a capture are those that perf script shows with the same options, and time off the CPU is the
time that a program slept."""
import json
import os
import re
import subprocess

import perf_script
import rec

BUSY = "awk 'BEGIN { for (i = 0; i < 600000; i++) s += i }'"
SLEEPY = "import time\nfor i in range(10): time.sleep(0.02); sum(range(20000))"


class Parts(rec.Case):
    def record(self, *words):
        self.need_program("perf")
        here = self.new_directory()
        done = subprocess.run(["perf", "record", "-q", "-o", "perf.data", *words], cwd=here,
                              capture_output=True, text=True, timeout=60)
        if done.returncode or not os.path.exists(f"{here}/perf.data"):
            self.skipTest(f"perf record fails here: {done.stderr.strip()}")
        return here

    def perf(self, here, *options, fields="pid,tid,time,period"):
        done = subprocess.run(["perf", "script", "--ns", "-G", "-F", fields, *options, "-i",
                               "perf.data"], cwd=here, capture_output=True, text=True, timeout=60)
        rows = re.findall(r"^\s*(\d+)/(\d+)\s+([\d.]+):\s+(\d+)", done.stdout, re.MULTILINE)
        return [(int(pid), int(tid), time, int(period)) for pid, tid, time, period in rows]

    def report(self, here, *options):
        done = subprocess.run([rec.REC, "report", "--json", "perf.data", *options], cwd=here,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_same(self, here, ours, theirs):
        expected = self.perf(here, *theirs)
        report = self.report(here, *ours)
        self.assertGreater(len(expected), 5, theirs)
        self.assertEqual((report["samples"], report["total_ns"]),
                         (len(expected), sum(period for *_, period in expected)), ours)

    def test_parts_are_those_of_perf(self):
        here = self.record("-e", "cpu-clock", "-F", "1999", "--sample-cpu", "--", "sh", "-c",
                           f"{BUSY} & {BUSY}; wait")
        rows = self.perf(here)
        self.check_same(here, [], [])
        pid = max({row[0] for row in rows}, key=[row[0] for row in rows].count)
        self.check_same(here, ["--pid", str(pid)], ["--pid", str(pid)])
        self.check_same(here, ["--tid", str(pid)], ["--tid", str(pid)])
        name = os.path.basename(os.path.realpath("/usr/bin/awk"))
        for comm in ("awk", name):
            if self.perf(here, "--comms", comm):
                self.check_same(here, ["--comm", comm], ["--comms", comm])
        start, end = rows[len(rows) // 4][2], rows[len(rows) // 2][2]
        self.check_same(here, ["--time", f"{start},{end}"], ["--time", f"{start},{end}"])
        self.check_same(here, ["--time", f"{start},"], ["--time", f"{start},"])
        halves = [self.report(here, "--time", part)["samples"] for part in ("0%-50%", "50%-100%")]
        self.assertLessEqual(abs(sum(halves) - len(rows)), 1, halves)
        each = [self.report(here, "--cpu", str(cpu))["samples"] for cpu in range(os.cpu_count())]
        self.assertEqual(sum(each), len(rows))

    def test_a_part_without_samples_is_not_the_whole(self):
        here = self.record("-e", "cpu-clock", "--", "sh", "-c", BUSY)
        for part, said in (([], "self    total"), (["--pid", "1"], "No samples in the selected part")):
            done = subprocess.run([rec.REC, "report", "perf.data", *part], cwd=here,
                                  capture_output=True, text=True, timeout=60, check=True)
            self.assertIn(said, done.stdout)

    def test_a_capture_without_cpus_says_so(self):
        here = self.record("-e", "cpu-clock", "--", "sh", "-c", BUSY)
        done = subprocess.run([rec.REC, "report", "perf.data", "--cpu", "0"], cwd=here,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 125)
        self.assertIn("samples have no CPU number", done.stderr)

    def test_sleeping_is_time_off_the_cpu(self):
        for words in (["-e", "cpu-clock", "--switch-events"],
                      ["-e", "sched:sched_switch", "-c", "1", "-a", "-g"]):
            with self.subTest(words=words):
                if "sched:sched_switch" in words and os.geteuid() != 0:
                    self.skipTest("tracepoints need root")
                here = self.record(*words, "--", "/usr/bin/python3", "-c", SLEEPY)
                pids = {row[0] for row in self.perf(here, "--comms", "python3")}
                report = self.report(here, "--event", "off-cpu", "--comm", "python3", "--pid",
                                     ",".join(map(str, pids)))
                self.assertGreaterEqual(report["samples"], 10)
                self.assertGreaterEqual(report["total_ns"], 10 * 20_000_000)
                subprocess.run([rec.REC, "convert", "perf.data", "-q", "-o", "out.pb"], cwd=here,
                               check=True, timeout=60)
                types = perf_script.decoders.Pprof(os.path.join(here, "out.pb")).sample_types
                for name in ("off-cpu", "wall"):
                    self.assertIn((name, "nanoseconds"), types)
                if "-g" in words:
                    names = " ".join(function["name"] for function in report["functions"])
                    self.assertRegex(names, "nanosleep")


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec report --lifecycle`: the fate of each thread, by text and JSON, against what the program did; and the same as
markers on the tracks of the Firefox file."""
import gzip
import json
import re
import subprocess
from collections import Counter

import rec

RECORDER = ("--record", "thread-lifecycle")


def report(*words):
    return subprocess.run([rec.REC, "report", *words], capture_output=True, text=True, timeout=60, check=False)


class Lifecycle(rec.Case):
    def setUp(self):
        super().setUp()
        self.run_of_lives = self.recorded(rec.target("thread_lives"), rec_options=RECORDER)

    def table(self):
        done = report("--lifecycle", "--json", self.run_of_lives.path())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_each_thread_has_its_fate(self):
        table = self.table()
        fates = Counter((thread["name"], thread["fate"]) for thread in table["threads"])
        self.assertEqual(fates, {("joined", "joined"): 3, ("clocked", "joined"): 1, ("third", "joined"): 1,
                                 ("c11", "joined"): 1, ("c11", "detached"): 1, ("detached", "detached"): 2,
                                 ("zombie", "never-joined"): 4, ("waiting", "alive"): 1})
        self.assertEqual({key: table[key] for key in ("joined", "detached", "never-joined", "alive", "unmatched")},
                         {"joined": 6, "detached": 3, "never-joined": 4, "alive": 1, "unmatched": 0})

    def test_threads_have_times_names_and_the_stacks_of_both_ends(self):
        for thread in self.table()["threads"]:
            calls = thread["created"]["calls"]
            self.assertTrue(calls[0].endswith("_life") or calls[0] == "wait_for_ever", calls)
            self.assertIn(calls[1], ("pthread_create", "thrd_create"))
            self.assertIn("main", calls)
            self.assertEqual("ended_ns" in thread, True)
            self.assertLess(thread["created"]["time_ns"], thread["ended_ns"])
            if "joined" in thread:
                self.assertIn("join", thread["joined"]["calls"][0])
                self.assertGreaterEqual(thread["joined"]["time_ns"], thread["ended_ns"])
            for before, name in zip(thread["names"], thread["names"][1:]):
                self.assertLessEqual(before["time_ns"], name["time_ns"])
        names = [thread["names"] for thread in self.table()["threads"] if thread["name"] == "third"]
        self.assertEqual([[name["name"] for name in names[0]]], [["first", "second", "third"]])

    def test_the_text_groups_threads_by_the_creating_stack(self):
        done = report("--lifecycle", self.run_of_lives.path())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("14 threads created: 6 joined, 3 detached, 4 ended and never joined, 1 alive", done.stdout)
        self.assertRegex(done.stdout, r"\n  4 of short_life, created in spawn < leak_threads < main < .* by \d+ "
                                      r"thread_lives\n(    +\d+  zombie .* ended .*\n){4}\n")
        self.assertRegex(done.stdout, r"\n  1 of wait_for_ever, .*\n +\d+  waiting .* idle since +\d+\.\d+ s ")

    def test_idle_since_is_the_last_cpu_time(self):
        waiting, = [thread for thread in self.table()["threads"] if thread["name"] == "waiting"]
        self.assertLess(waiting["last_cpu_ns"], waiting["ended_ns"] - 80_000_000)
        self.assertGreaterEqual(waiting["last_cpu_ns"], waiting["created"]["time_ns"])

    def test_threads_that_an_exec_ends_are_alive_until_then(self):
        self.run_of_lives = self.recorded(rec.target("threads_exec"), rec_options=RECORDER)
        table = self.table()
        self.assertEqual((table["alive"], table["never-joined"], len(table["threads"])), (6, 0, 6))

    def markers(self):
        """name of the thread -> [[(marker, text, has a stack), ...] of each such thread], in the file's order."""
        with gzip.open(self.run_of_lives.path("rec.json.gz")) as file:
            profile = json.load(file)
        texts = profile["shared"]["stringArray"]
        found = {}
        for thread in profile["threads"]:
            table = thread["markers"]
            self.assertEqual(table["startTime"], sorted(table["startTime"]))
            found.setdefault(thread["name"], []).append(
                [(texts[name], data.get("text"), "cause" in data)
                 for name, data in zip(table["name"], table["data"]) if data["type"] == "Thread"])
        return found

    def test_the_life_of_a_thread_is_on_its_firefox_track(self):
        markers = self.markers()
        creator = re.search(r"by \d+ thread_lives", markers["zombie"][0][0][1])[0]
        self.assertEqual(markers["zombie"], 4 * [[("Thread created", creator, True), ("Thread named", "zombie", False),
                                                  ("Thread ended", None, False)]])
        self.assertEqual(markers["third"], [[
            ("Thread created", creator, True), ("Thread named", "first", False), ("Thread named", "second", False),
            ("Thread named", "third", False), ("Thread ended", None, False), ("Thread joined", creator, True)]])
        self.assertEqual([[marker[0] for marker in markers["waiting"][0]]],  # a track without samples
                         [["Thread created", "Thread named", "Thread ended"]])
        self.assertIn(("Thread created", creator + ", as detached", True), markers["detached"][1])

    def test_files_of_other_recordings_have_no_such_markers(self):
        self.run_of_lives = self.recorded(rec.target("thread_lives"))
        self.assertEqual({name for name, tables in self.markers().items() if any(tables)}, set())

    def test_other_captures_are_refused_in_one_line(self):
        plain = self.recorded("true").path()
        for words, sentence in (((plain,), "has no thread lifecycle: record with `rec --record thread-lifecycle -- COMMAND`"),
                                ((plain, self.run_of_lives.path()), "shows a single capture")):
            done = report("--lifecycle", *words)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(sentence, done.stderr)
            self.assertTrue(re.fullmatch(r"rec: [^\n]*\n", done.stderr), done.stderr)


if __name__ == "__main__":
    rec.main()

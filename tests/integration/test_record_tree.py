#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each process and thread of a tree is in the files once, with its own name, beginning, end and parent."""
import collections
import gzip
import json
import re
import statistics
import struct
import subprocess

import rec

MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, FINISHED_ROUND = 1, 3, 4, 7, 9, 10, 68
MAPPINGS = MMAP, MMAP2
COMM_EXEC = 1 << 13
SAMPLE_IDENTIFIER = 1 << 16

# Every way to start something, also a thread, a program that cannot be followed, and a daemon.
SCRIPT = """
short={short} processes={processes} static={static}
$short 30
$processes vfork-exec 0 $short 30
$processes posix_spawn 0 $short 30
$processes fork 30
sh -c "exec sh -c 'exec $short 30'"
($short 30 &)
{threads}
$static $short 300
exec $short 60
"""

Task = collections.namedtuple("Task", "kind pid parent tid time_ns name is_exec")


def records(path):
    """The task, mapping, sample and round records of a rec.data: header, then records of type, misc, size."""
    with open(path, "rb") as file:
        content = file.read()
    first_attr, = struct.unpack_from("<Q", content, 24)
    sample_type, = struct.unpack_from("<Q", content, first_attr + 24)
    at_ids = 16 if sample_type & SAMPLE_IDENTIFIER else 8
    at, size = struct.unpack_from("<QQ", content, 40)
    end = at + size
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", content, at)
        body = content[at + 8:at + size]
        if kind in (COMM, *MAPPINGS):
            pid, tid = struct.unpack_from("<II", body)
            name = body[8:].split(b"\0")[0].decode() if kind == COMM else ""
            yield Task(kind, pid, 0, tid, struct.unpack_from("<Q", body, len(body) - at_ids)[0], name,
                       bool(misc & COMM_EXEC))
        elif kind in (FORK, EXIT):
            pid, parent, tid, _, time_ns = struct.unpack_from("<IIIIQ", body)
            yield Task(kind, pid, parent, tid, time_ns, "", False)
        elif kind == SAMPLE:
            pid, tid, time_ns = struct.unpack_from("<IIQ", body, at_ids)
            yield Task(kind, pid, 0, tid, time_ns, "", False)
        elif kind == FINISHED_ROUND:
            yield Task(kind, 0, 0, 0, 0, "", False)
        at += size


class Tree(rec.Case):
    def record_tree(self, engine):
        self.need_engine(engine)
        threads = f"{rec.target('equal_threads')} 3 40"
        script = SCRIPT.format(short=rec.target("short_run"), processes=rec.target("processes"),
                               static=rec.target("static_exec"), threads=threads)
        return self.recorded("bash", "-c", script, rec_options=[f"--engine={engine}", "--wait-all"])

    def each_engine(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                yield self.record_tree(engine)

    def test_records_begin_and_end_each_task_once(self):
        for run in self.each_engine():
            tasks = list(records(run.path()))
            by_kind = collections.defaultdict(lambda: collections.defaultdict(list))
            for task in tasks:
                by_kind[task.kind][task.pid, task.tid].append(task)
            self.assertGreater(len(by_kind[FORK]), 12)
            for key, forks in by_kind[FORK].items():
                self.assertEqual(len(forks), 1, key)
                self.assertEqual(len(by_kind[EXIT][key]), 1, key)
                self.assertLessEqual(forks[0].time_ns, by_kind[EXIT][key][0].time_ns)
            for key, samples in by_kind[SAMPLE].items():
                self.assertIn(key, by_kind[FORK])
                times = [sample.time_ns for sample in samples]
                self.assertGreaterEqual(min(times), by_kind[FORK][key][0].time_ns)
            for pid, tid in by_kind[FORK]:
                if pid == tid:
                    self.assertTrue(any(comm.is_exec for comm in by_kind[COMM][pid, tid]), pid)

    def test_threads_that_follow_one_another_do_not_overlap(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(rec.target("brief_threads"), "800", "10000",
                                    rec_options=[f"--engine={engine}"])
                spans = sorted((thread["start_ns"], thread["end_ns"], thread["tid"])
                               for thread in run.info["threads"] if thread["tid"] != thread["pid"])
                self.assertEqual(len({tid for _, _, tid in spans}), 800)
                self.assertEqual(len(spans), 800)
                for (_, end_ns, _), (start_ns, _, _) in zip(spans, spans[1:]):
                    self.assertLess(0, end_ns)
                    self.assertLessEqual(end_ns, start_ns)

    def test_what_a_process_has_mapped_comes_after_its_fork(self):
        """hotspot takes what comes with it for the parent's, and drops it."""
        for run in self.each_engine():
            tasks = list(records(run.path()))
            forks = {task.pid: task.time_ns for task in tasks if task.kind == FORK and task.pid == task.tid}
            for task in tasks:
                if task.kind in MAPPINGS:
                    self.assertGreater(task.time_ns, forks[task.pid])

    def test_mappings_are_not_older_than_half_of_the_round_before(self):
        """When a round ends, hotspot is done with the older half of what it has: what comes later is an error."""
        for run in self.each_engine():
            before, times = [], []
            for task in records(run.path()):
                if task.kind == FINISHED_ROUND:
                    before, times = times, []
                    continue
                times.append(task.time_ns)
                if task.kind in MAPPINGS and before:
                    self.assertGreaterEqual(task.time_ns, statistics.median(before))

    def test_synthetic_frames_have_names_where_they_occur(self):
        """In perf as well, which sorts records by time: the pages above all user addresses are mapped in time."""
        for run in self.each_engine():
            text = subprocess.run(["perf", "script", "-f", "-F", "ip,sym,dso", "-i", run.path()], check=True,
                                  capture_output=True, text=True, timeout=120).stdout
            modules = collections.Counter(re.findall(r"^\s+8(?:0000000[0-9a-f]{4})? .*?\((.*)\)$", text, re.MULTILINE))
            self.assertGreater(modules.total(), 0)
            self.assertEqual([name for name in modules if not name.startswith("[") or name == "[unknown]"], [])
            with open(run.path(), "rb") as file:
                content = file.read()
            for name in ("[kernel]", "[exit]", "[lost]", "[truncated]"):
                self.assertEqual(f"{name}\0".encode() in content, name in modules, name)

    def test_parents_are_in_the_tree(self):
        for run in self.each_engine():
            processes = {process["pid"]: process for process in run.info["processes"]}
            self.assertEqual(len(processes), len(run.info["processes"]))
            outside = [process for process in processes.values()
                       if process["parent_pid"] not in processes]
            # The command is rec's child; the daemon was left to init, perhaps before it was asked.
            self.assertLessEqual(len(outside), 2)
            names = collections.Counter(process["name"] for process in processes.values())
            self.assertGreaterEqual(names["short_run"], 5)

    def test_firefox_has_one_main_thread_of_each_process(self):
        for run in self.each_engine():
            with gzip.open(run.path("rec.json.gz")) as file:
                threads = json.load(file)["threads"]
            mains = collections.Counter(thread["pid"] for thread in threads if thread["isMainThread"])
            self.assertEqual(set(mains.values()), {1})
            self.assertEqual(set(mains), {thread["pid"] for thread in threads})
            for thread in threads:
                self.assertLessEqual(thread["registerTime"], thread["unregisterTime"] or 1e18)


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorder thread-lifecycle: each creation, join, detach and name of a thread is in the capture, with the stack of
the calling thread; perf reads the events. Without the recorder nothing of the kind is there."""
import os
import re
import subprocess
from collections import Counter

import rec

RECORDER = ("--record", "thread-lifecycle")
EVENTS = ("thread-create", "thread-join", "thread-detach")
CREATED, JOINED, DETACHED = 14, 6, 2  # by thread_lives.c; one more is created as detached


def perf(*words):
    return subprocess.run(["perf", *words], capture_output=True, text=True, check=True, timeout=60).stdout


def stacks_of(run):
    """event -> [functions from the leaf, ...], as perf script prints them."""
    found = {event: [] for event in EVENTS}
    for block in perf("script", "-i", run.path()).split("\n\n"):
        head, *frames = block.strip("\n").split("\n")
        event = re.search(r" ([\w-]+): *$", head)
        if event and event[1] in found:
            found[event[1]].append([frame.split()[1].split("+")[0] for frame in frames])
    return found


def objects_of(run):
    """[(address, number)] of the samples with an object, as perf decodes ADDR and WEIGHT."""
    found = []
    for record in perf("report", "-D", "-i", run.path()).split("PERF_RECORD_SAMPLE")[1:]:
        address, weight = re.search(r" addr: (\S+)", record), re.search(r"(?m)^\.\.\. weight: (\d+)", record)
        if weight:
            found.append((int(address[1], 16), int(weight[1])))
    return found


class Threads(rec.Case):
    def lives(self, *options):
        return self.recorded(rec.target("thread_lives"), rec_options=(*RECORDER, *options))

    def test_each_call_is_an_event_with_the_callers_stack(self):
        run = self.lives()
        stacks = stacks_of(run)
        self.assertEqual({event: len(stacks[event]) for event in EVENTS},
                         dict(zip(EVENTS, (CREATED, JOINED, DETACHED))))
        leaks = [stack for stack in stacks["thread-create"] if "leak_threads" in stack]
        self.assertEqual(len(leaks), 4)
        for stack in leaks:
            self.assertEqual(stack[:4], ["short_life", "pthread_create", "spawn", "leak_threads"])
            self.assertEqual(stack[-1], "_start")
        c11 = [stack for stack in stacks["thread-create"] if "thrd_create" in stack]
        self.assertEqual([stack[:2] for stack in c11], 2 * [["c11_life", "thrd_create"]])
        self.assertEqual(Counter(stack[0] for stack in stacks["thread-join"]),
                         {"pthread_join": 2, "pthread_tryjoin_np": 1, "pthread_timedjoin_np": 1,
                          "pthread_clockjoin_np": 1, "thrd_join": 1})
        self.assertEqual(Counter(stack[0] for stack in stacks["thread-detach"]),
                         {"pthread_detach": 1, "thrd_detach": 1})

    def test_a_creation_names_the_new_thread_and_a_join_its_handle(self):
        run = self.lives()
        tids = {int(tid) for pid, tid in re.findall(
            r"PERF_RECORD_FORK\((\d+):(\d+)\)", perf("script", "-i", run.path(), "--show-task-events"))
            if pid != tid}
        objects = objects_of(run)
        created = {number: address for address, number in objects if number}
        self.assertEqual(set(created), tids)
        self.assertEqual(len(tids), CREATED)
        self.assertEqual(sum(address == 0 for address in created.values()), 1)  # as detached
        for address, number in objects:
            if not number:
                self.assertIn(address, created.values())

    def test_names_have_the_time_of_the_change(self):
        text = perf("script", "-i", self.lives().path(), "--show-task-events")
        comms = re.findall(r"PERF_RECORD_COMM: (\w+):\d+/(\d+)", text)
        tids = {tid for name, tid in comms if name == "first"}
        self.assertEqual(len(tids), 1)
        self.assertEqual([name for name, tid in comms if tid in tids], ["first", "second", "third"])
        self.assertEqual(Counter(name for name, _ in comms if name in ("zombie", "detached", "joined", "c11")),
                         {"zombie": 4, "detached": 2, "joined": 3, "c11": 2})

    def test_threads_of_children_and_of_executed_programs_are_recorded(self):
        program = rec.target("thread_lives")
        run = self.recorded("/bin/sh", "-c", f"{program} & env -i {program}; wait", rec_options=RECORDER)
        self.assertEqual(len(stacks_of(run)["thread-create"]), 2 * CREATED)

    def test_without_the_recorder_there_are_neither_events_nor_hooks(self):
        run = self.recorded(rec.target("thread_lives"))
        self.assertEqual(run.info["events"], ["cpu-clock"])
        listing = self.recorded("/bin/sh", "-c", "grep librec /proc/self/maps").stdout.decode()
        self.assertNotIn("rec-recorders", listing)
        listing = self.recorded("/bin/sh", "-c", "grep librec /proc/self/maps", rec_options=RECORDER).stdout.decode()
        self.assertIn("rec-recorders/librec-sampler.so", listing)

    def test_cpu_samples_are_the_same_with_the_recorder(self):
        """Weights agree with the CPU time, and every stack is complete."""
        run = self.recorded(rec.target("equal_threads"), "4", "500", rec_options=RECORDER)
        self.assertEqual(run.complete_percent(), 100)
        self.assert_seen(run, 0.01)
        self.assertEqual(run.count("lost_events"), 0)

    def test_a_storm_of_threads_loses_none(self):
        run = self.recorded(rec.target("storm_threads"), "200", rec_options=RECORDER)
        created = len(stacks_of(run)["thread-create"])
        self.assertEqual(run.count("lost_events"), 0)
        self.assertEqual(created, run.count("threads") - run.count("processes"))

    def test_recording_from_outside_is_refused_in_one_line(self):
        for words in (("-p", "1"), ("-t", "1"), ("--engine", "perf-ring", "--", "true")):
            done = subprocess.run([rec.REC, *RECORDER, *words], capture_output=True, text=True,
                                  cwd=self.directory, timeout=60, check=False)
            self.assertEqual(done.returncode, 125)
            self.assertRegex(done.stderr, r"\Arec: thread-lifecycle has no hooks in programs recorded from outside .*"
                                          r"rec --record thread-lifecycle -- COMMAND\n\Z")
            self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    rec.main()

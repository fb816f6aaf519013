#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that are stopped, traced, frozen, in vfork(), without their main thread, at their end or none at all: `rec -p`,
`rec stacks`, `rec threads` and `rec images` show what is there or refuse in one line, in time, and leave nothing
stopped or traced."""
import json
import os
import random
import re
import signal
import subprocess
import time

import rec

RECORD = ["--duration", "0.2", "-o", "rec.data"]
COMMANDS = {"record": ["-q", *RECORD], "stacks": ["stacks"], "stop": ["stacks", "--stop"], "threads": ["threads"],
            "images": ["images"]}
# The main thread ends; one thread runs and one waits.
WITHOUT_MAIN = """
import ctypes, threading, time
def work():
    while True: pass
threading.Thread(target=work).start()
threading.Thread(target=time.sleep, args=(60,)).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""
VFORK = """
import ctypes
libc = ctypes.CDLL(None)
print("ready", flush=True)
if libc.vfork() == 0:
    libc.prctl(1, 9)
    libc.sleep(60)
    libc._exit(0)
"""
# One thread waits in the library of the first argument, the main thread beside it.
HOLD = b"#include <unistd.h>\nint hold(void) { volatile unsigned left = 60; left = sleep(left) + 1; return left; }\n"
HOLDS = """
import ctypes, sys, threading, time
threading.Thread(target=ctypes.CDLL(sys.argv[1]).hold, daemon=True).start()
time.sleep(0.2)
print("ready", flush=True)
time.sleep(600)
"""


class Case(rec.Case):
    def start(self, *command):
        target = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        for clean in (target.stdout.close, target.wait, target.kill):
            self.addCleanup(clean)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target.pid

    def start_attached(self, busy=1, idle=2):
        return self.start(rec.target("attached"), 600, busy, idle)

    def run_rec(self, *words):
        return subprocess.run([rec.REC, *map(str, words)], cwd=self.directory, capture_output=True, text=True,
                              timeout=rec.TIMEOUT_S)

    def threads(self, pid, *options):
        done = self.run_rec("stacks", "--json", *options, "-p", pid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["threads"]

    def states(self, pid):
        states = []
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as file:
                text = file.read()
            states.append((re.search(r"State:\s(\S)", text)[1], int(re.search(r"TracerPid:\s(\d+)", text)[1])))
        return states

    def assert_all_work(self, pid, states, tracers=(0,), line=None):
        """With no message, or one line that may be there."""
        for name, words in COMMANDS.items():
            done = self.run_rec(*words, "-p", pid)
            said = "" if line and re.fullmatch(line, done.stderr) else done.stderr
            self.assertEqual((name, done.returncode, said), (name, 0, ""))
            found = self.states(pid)
            self.assertLessEqual({state for state, _ in found}, set(states), name)
            self.assertLessEqual({tracer for _, tracer in found}, set(tracers), name)

    def wait_until(self, is_done):
        end = time.monotonic() + 20
        while not is_done() and time.monotonic() < end:
            time.sleep(0.02)


class States(Case):
    def test_a_stopped_process_stays_stopped(self):
        pid = self.start_attached()
        os.kill(pid, signal.SIGSTOP)
        self.wait_until(lambda: all(state == "T" for state, _ in self.states(pid)))
        self.assert_all_work(pid, "T")
        self.assertEqual({thread["waits"]["kind"] for thread in self.threads(pid)}, {"stopped"})

    def test_a_traced_process_keeps_its_tracer(self):
        pid = self.start_attached(busy=0)
        tracer = subprocess.Popen([self.need_program("strace"), "-f", "-o", "/dev/null", "-p", str(pid)],
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.terminate)
        self.wait_until(lambda: all(traced for _, traced in self.states(pid)))
        self.assert_all_work(pid, "RStD", (tracer.pid,))
        for thread in self.threads(pid, "--stop"):
            self.assertEqual(thread["not_stopped"], "traced by another process")
            self.assertIn("frames", thread)

    def check_frozen(self, group, file, frozen, thawed):
        pid = self.start_attached()
        home = os.path.dirname(group)
        os.mkdir(group)

        def write(path, text):
            with open(path, "w", encoding="ascii") as out:
                out.write(text)

        def thaw():
            write(f"{group}/{file}", thawed)
            write(f"{home}/cgroup.procs", str(pid))
            os.rmdir(group)
        self.addCleanup(thaw)
        write(f"{group}/cgroup.procs", str(pid))
        write(f"{group}/{file}", frozen)
        time.sleep(0.1)
        self.assert_all_work(pid, "DS")
        threads = {thread["tid"]: thread for thread in self.threads(pid)}
        self.assertEqual(threads[pid]["waits"]["kind"], "frozen")
        self.assertTrue(threads[pid]["is_complete"])

    def freezer(self, kind, options):
        with open("/proc/mounts", encoding="utf-8") as mounts:
            found = [line.split()[1] for line in mounts if line.split()[2] == kind and options in line.split()[3].split(",")]
        if not found or not os.access(found[0], os.W_OK):
            self.skipTest("no process can be frozen here")
        return f"{found[0]}/rec-test-{os.getpid()}"

    def test_a_process_frozen_by_version_1(self):
        self.check_frozen(self.freezer("cgroup", "freezer"), "freezer.state", "FROZEN", "THAWED")

    def test_a_process_frozen_by_version_2(self):
        self.check_frozen(self.freezer("cgroup2", "rw"), "cgroup.freeze", "1", "0")

    def test_a_thread_that_does_not_stop(self):
        pid = self.start(self.need_program("/usr/bin/python3"), "-c", VFORK)
        self.wait_until(lambda: self.states(pid) == [("D", 0)])
        self.assert_all_work(pid, "D")
        thread = self.threads(pid, "--stop")[0]
        self.assertEqual((thread["not_stopped"], thread["waits"]["kind"]), ("no stop in time", "child"))


class SpoiledModules(Case):
    """The file of a mapped module is cut or overwritten in place: its code must not run again, but may be read."""

    def check(self, spoil):
        library = os.path.join(self.directory, "holds.so")
        subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=HOLD, check=True)
        pid = self.start(self.need_program("/usr/bin/python3"), "-c", HOLDS, library)
        with open(library, "r+b") as file:
            spoil(file)
        self.assert_all_work(pid, "SD", line=f"rec: {re.escape(library)}: .*\n")
        done = self.run_rec("stacks", "--json", "-p", pid)
        threads = {thread["tid"]: thread for thread in json.loads(done.stdout)["threads"]}
        held = threads.pop(max(threads))
        self.assertTrue(any("sleep" in frame["function"] for frame in held["frames"]), held)
        self.assertTrue(held["is_complete"] or held["problem"], held)
        self.assertTrue(threads[pid]["is_complete"], threads)
        images = json.loads(self.run_rec("images", "--json", "-p", pid).stdout)
        self.assertIn(library, json.dumps(images))
        os.unlink(library)

    def test_cut_to_any_length(self):
        for size in rec.figure((0, 100, 5000), (0, 1, 63, 64, 100, 4095, 4096, 5000, 8192)):
            with self.subTest(size=size):
                self.check(lambda file, size=size: file.truncate(size))

    def test_overwritten_behind_the_header(self):
        for seed in range(rec.figure(2, 30)):
            with self.subTest(seed=seed):
                self.check(lambda file, seed=seed: (file.seek(64), file.write(random.Random(seed).randbytes(16000))))


class WithoutMainThread(Case):
    def setUp(self):
        super().setUp()
        self.pid = self.start(self.need_program("/usr/bin/python3"), "-c", WITHOUT_MAIN)
        self.wait_until(lambda: ("Z", 0) in self.states(self.pid))

    def test_snapshots_have_the_other_threads(self):
        self.assert_all_work(self.pid, "ZRSD")
        for options in ([], ["--stop"]):
            threads = {thread["tid"]: thread for thread in self.threads(self.pid, *options)}
            self.assertEqual(threads.pop(self.pid)["problem"], "has ended; other threads go on")
            self.assertEqual([thread["is_complete"] for thread in threads.values()], [True, True], threads)

    def test_recordings_have_complete_stacks_with_names(self):
        done = self.run_rec("-q", "--duration", "0.5", "-p", self.pid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        run = rec.Run(done, self.directory, 0)
        self.assertGreater(run.complete_percent(), 90)
        self.assertGreater(run.share_of("_PyEval_EvalFrameDefault"), 50)

    def test_images_are_there(self):
        done = self.run_rec("images", "--json", "-p", self.pid)
        self.assertIn("/usr/bin/python3", done.stdout)
        self.assertIn("libc.so.6", done.stdout)


class Refusals(Case):
    def assert_one_line(self, pid, *parts):
        for name, words in COMMANDS.items():
            done = self.run_rec(*words, "-p", pid)
            self.assertEqual((name, done.returncode, done.stdout), (name, 125, ""))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(any(part in done.stderr for part in parts), done.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_kernel_thread(self):
        with open("/proc/2/comm", encoding="ascii") as file:
            if file.read() != "kthreadd\n":
                self.skipTest("no kernel threads in this pid namespace")
        self.assert_one_line(2, "a kernel thread has no user code")

    def test_a_zombie(self):
        ended = subprocess.Popen(["true"])
        self.addCleanup(ended.wait)
        self.wait_until(lambda: self.states(ended.pid)[0][0] == "Z")
        self.assert_one_line(ended.pid, "a zombie")

    def test_a_thread(self):
        pid = self.start_attached(idle=1)
        tid = max(map(int, os.listdir(f"/proc/{pid}/task")))
        self.assert_one_line(tid, f"a thread of process {pid}; use -")

    def test_no_process(self):
        self.assert_one_line(4194303, "no such process")

    def test_rec_itself(self):
        for words in COMMANDS.values():
            done = subprocess.run(["sh", "-c", 'exec "$0" "$@" -p $$', rec.REC, *words], cwd=self.directory,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 125)
            self.assertRegex(done.stderr, r"^rec: cannot (record|read) process \d+: rec .*itself\n$")

    def test_a_process_that_ends_meanwhile(self):
        """Found by one command and gone for the next, or in between."""
        for name, words in COMMANDS.items():
            for delay in range(rec.figure(8, 80)):
                ending = subprocess.Popen([rec.target("attached"), str(delay / 500), "1", "3"], stdout=subprocess.DEVNULL)
                time.sleep(0.002)
                done = self.run_rec(*words, "-p", ending.pid)
                ending.wait()
                self.assertIn(done.returncode, (0, 125), name)
                if done.returncode:
                    self.assertRegex(done.stderr, r"^rec: cannot \w+ .*(ended meanwhile|zombie|no such process).*\n$")


if __name__ == "__main__":
    rec.main()

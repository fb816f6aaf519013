#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec stacks` and `rec threads`: the threads of a running process, which is neither stopped nor signalled."""
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import rec

NOBODY = 65534
LOOK_SECONDS = rec.figure(3, 250)

MANY_MAPPINGS = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(20000):
    libc.mprotect(ctypes.c_void_p(libc.mmap(None, 8192, 0, 0x22, -1, 0)), 4096, 5)
print("ready", flush=True)
time.sleep(60)
"""


def as_nobody():
    """Options of Popen: an ordinary user, where the tests run as root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class Watched(rec.Case):
    def setUp(self):
        super().setUp()
        self.targets = []

    def tearDown(self):
        for target in self.targets:
            target.kill()
            target.wait()
            target.stdout.close()

    def start(self, *command, **options):
        """A running program, once its first line is there."""
        target = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, **options)
        self.targets.append(target)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def rec(self, *words, status=0, **options):
        done = subprocess.run([rec.REC, *map(str, words)], capture_output=True, text=True, timeout=rec.TIMEOUT_S,
                              **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def read(self, command, pid, **options):
        done = self.rec(command, "-p", pid, "--json", **options)
        return json.loads(done.stdout)

    def threads(self, pid, is_settled=lambda threads: True, **options):
        """By name, once all of them wait, as they should."""
        end = time.monotonic() + 20
        while True:
            threads = self.read("stacks", pid, **options)["threads"]
            named = {thread["name"]: thread for thread in threads}
            if (all("waits" in thread for thread in threads) and is_settled(named)) or time.monotonic() > end:
                return named
            time.sleep(0.1)

    def start_calls(self, program="blocked_calls", **options):
        target = self.start(rec.target(program), 60, **options)
        return target, self.threads(target.pid, calls_wait, **options)

    def start_deadlock(self):
        target = self.start(rec.target("deadlock"))
        return target, self.threads(target.pid, are_locked)


def calls_wait(threads):
    """All calls of `blocked_calls`; its thread "waitpid" forks first."""
    return ("aio_suspend" in threads and "done" not in threads and
            threads["waitpid"]["waits"].get("text", "").startswith("child"))


def are_locked(threads):
    return sum(thread["waits"]["kind"] == "lock" for thread in threads.values()) == 2


def functions(thread):
    return [frame["function"] for frame in thread["frames"]]


# Threads "0" to "4" note the time of the monotonic clock, and wait. A line wakes one of them for the next wait.
DATED_WAITS = """
import os, sys, threading, time
pipes = [os.pipe() for _ in range(5)]
began = {}
def wait(number):
    with open("/proc/thread-self/comm", "w") as file: file.write(str(number))
    while True:
        began[str(number)] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        os.read(pipes[number][0], 1)
for number in range(5):
    threading.Thread(target=wait, args=(number,), daemon=True).start()
    time.sleep(0.1)
print("ready", flush=True)
for line in sys.stdin:
    before = began[line.strip()]
    os.write(pipes[int(line)][1], b"x")
    while began[line.strip()] == before: time.sleep(0.001)
    time.sleep(0.02)
    print(began, flush=True)
"""
AGE_ERROR_MS = 5


class WaitingThreads(Watched):
    def test_a_process_with_more_mappings_of_code_than_the_budget(self):
        """The libraries are there, though their addresses are the highest."""
        target = self.start(self.need_program("/usr/bin/python3"), "-c", MANY_MAPPINGS)
        (thread,) = self.read("stacks", target.pid)["threads"]
        self.assertIn("libc.so.6", json.dumps(thread))
        self.assertNotIn("incomplete", thread)

    def check_complete(self, program):
        _, threads = self.start_calls(program, **as_nobody())
        for name, thread in threads.items():
            self.assertTrue(thread["is_complete"], f"{program}: {name}: {thread}")
            self.assertIn("waits", thread, name)
        for name in ("poll", "mutex", "read_pipe", "waitpid", "vfork"):
            names = functions(threads[name])
            self.assertLess(names.index(f"call_{name}"), names.index("blocked_outer"))
            outer = threads[name]["frames"][names.index("blocked_outer")]
            self.assertTrue(outer["file"].endswith("/blocked_calls.h"), outer)
            self.assertGreater(outer["line"], 70)

    def test_all_have_complete_stacks_with_lines(self):
        for program in "blocked_calls", "blocked_calls_plain", "blocked_calls_framed", "blocked_calls_static":
            with self.subTest(program):
                self.check_complete(program)

    def test_no_call_ends_otherwise(self):
        target = self.start(rec.target("blocked_calls"), LOOK_SECONDS + 3, **as_nobody())
        end = time.monotonic() + LOOK_SECONDS
        looks = 0
        while time.monotonic() < end:
            for command in "stacks", "threads":
                self.rec(command, "--timeout", rec.TIMEOUT_S, "-p", target.pid, **as_nobody())
            looks += 2
        self.assertGreaterEqual(looks, 2)
        self.assertEqual(target.stdout.read(), "0 of 50 differ\n")

    def test_reasons_name_objects(self):
        _, threads = self.start_calls()
        self.assertEqual(threads["read_pipe"]["waits"]["object"], "pipe")
        self.assertEqual(threads["eventfd"]["waits"]["object"], "eventfd")
        self.assertRegex(threads["flock"]["waits"]["object"], "^/tmp/blocked-.*/lock$")
        self.assertRegex(threads["accept"]["waits"]["text"], "^accept of unix socket @[0-9a-f]+ ")
        self.assertRegex(threads["waitpid"]["waits"]["text"], r"^child \d+$")
        self.assertEqual(threads["semop"]["waits"]["kind"], "semaphore")

    def test_a_deadlock_names_the_holders(self):
        target, threads = self.start_deadlock()
        first, second = threads["has_first"], threads["has_second"]
        for thread, other, function in (first, second, "take_second"), (second, first, "take_first"):
            self.assertEqual(thread["waits"]["kind"], "lock")
            self.assertEqual(thread["waits"]["holder_tid"], other["tid"])
            self.assertIn(function, functions(thread))
        text = self.rec("stacks", "-p", target.pid).stdout
        self.assertIn(f"held by thread {second['tid']} (has_second)", text)

    def test_the_age_counts_from_before_rec(self):
        begin = time.monotonic()
        target, _ = self.start_deadlock()
        blocked = time.monotonic()
        time.sleep(2)
        before = time.monotonic()
        waits = self.threads(target.pid)["has_first"]["waits"]
        if "since_ns" not in waits:
            self.skipTest("the kernel has no se.exec_start")
        self.assertGreater(waits["since_ns"] / 1e9, before - blocked - 0.05)
        self.assertLess(waits["since_ns"] / 1e9, time.monotonic() - begin)

    def take_age_errors(self, errors_ms, look, threads, began):
        """The least ones, of the ages against thread "0": all threads are read at nearly one time."""
        ages = {thread["name"]: thread["waits"]["since_ns"] for thread in threads if thread["name"] in began}
        self.assertEqual(set(ages), set(began))
        for name, age in ages.items():
            error_ms = abs((ages["0"] - age) - (began[name] - began["0"])) / 1e6
            errors_ms[look, name] = min(error_ms, errors_ms.get((look, name), error_ms))

    def test_ages_are_those_of_the_programs_clock(self):
        """Of waits from before rec, and of one that began between two looks of one rec."""
        target = self.start(sys.executable, "-c", DATED_WAITS, stdin=subprocess.PIPE)

        def wait_again(number):
            """When each thread's wait began."""
            target.stdin.write(f"{number}\n")
            target.stdin.flush()
            return ast.literal_eval(target.stdout.readline())

        command = [rec.REC, "stacks", "--json", "--count", "2", "--interval", "0.5", "-p", str(target.pid)]
        errors_ms = {}
        for _ in range(20):  # a busy machine may take the processor between a clock and its wait
            began_before = [wait_again(number) for number in range(5)][-1]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looker:
                before = json.loads(looker.stdout.readline())["threads"]
                began = wait_again(3)
                after = json.loads(looker.stdout.readline())["threads"]
            if "since_ns" not in before[0].get("waits", {"since_ns": 0}):
                self.skipTest("the kernel has no se.exec_start")
            self.take_age_errors(errors_ms, "first", before, began_before)
            self.take_age_errors(errors_ms, "second", after, began)
            if max(errors_ms.values()) < AGE_ERROR_MS:
                break
        self.assertLess(max(errors_ms.values()), AGE_ERROR_MS, errors_ms)

    def test_equal_stacks_are_printed_once(self):
        program = "import threading, time\nfor _ in range(20): threading.Thread(target=time.sleep, args=(30,)).start()\n" \
                  "print('ready', flush=True)\n"
        target = self.start(sys.executable, "-c", program)
        self.threads(target.pid)
        text = self.rec("stacks", "-p", target.pid).stdout
        self.assertIn("20 threads: ", text)
        self.assertIn("and 12 more", text)


    def test_root_has_the_functions_of_the_kernel(self):
        self.need_root()
        target = self.start(rec.target("deadlock"))
        threads = self.threads(target.pid, are_locked)
        for thread in threads.values():
            self.assertTrue(thread["is_complete"], thread)
            self.assertTrue(any("futex" in frame["function"] for frame in thread["kernel_frames"]), thread)
            self.assertNotIn("kernel", thread["frames"][0]["module"])
        self.assertIn("[kernel.kallsyms]", self.rec("stacks", "-p", target.pid).stdout)
        self.assertNotIn("[kernel.kallsyms]", self.rec("stacks", "--all-user", "-p", target.pid).stdout)
        for thread in self.read("threads", target.pid)["threads"]:
            self.assertNotIn("futex", thread["function"])


# Both on one processor. The second one gets a few milliseconds of a second.
BUSY = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print('ready', flush=True)\nwhile True: pass"
STARVED = BUSY.replace("\n", "; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n")


class RunningThreads(Watched):
    def test_a_starved_one_is_named(self):
        for program in BUSY, STARVED:
            target = self.start(self.need_program("/usr/bin/python3"), "-c", program, **as_nobody())
        for _ in range(20):  # it may have its turn at the look
            (thread,) = self.read("stacks", target.pid, **as_nobody())["threads"]
            if "without_processor_ns" in thread:
                break
            time.sleep(0.1)
        self.assertGreater(thread["without_processor_ns"], 25e6)
        self.assertNotIn("waits", thread)
        self.assertEqual(thread["state"], "R")

    def test_all_have_complete_stacks(self):
        target = self.start(rec.target("attached"), 30, 4, 0, **as_nobody())
        found = self.read("stacks", target.pid, **as_nobody())
        running = [thread for thread in found["threads"] if "waits" not in thread]
        self.assertGreaterEqual(len(running), 3, found)
        for thread in running:
            self.assertTrue(thread["is_complete"], thread)


class ReplacedPrograms(Watched):
    def test_names_come_from_the_running_file(self):
        program = os.path.join(self.new_directory(), "program")
        shutil.copy(rec.target("deadlock"), program)
        target = self.start(program)
        os.unlink(program)
        self.assertIn("take_second", functions(self.threads(target.pid, are_locked)["has_first"]))
        shutil.copy(rec.target("waits"), program)
        self.assertIn("take_second", functions(self.threads(target.pid, are_locked)["has_first"]))


class Repetition(Watched):
    def test_count_prints_a_line_each(self):
        target = self.start(rec.target("deadlock"))
        out = self.rec("stacks", "-p", target.pid, "--json", "--count", 3, "--interval", "10ms").stdout
        self.assertEqual([json.loads(line)["pid"] for line in out.splitlines()], 3 * [target.pid])

    def test_an_interval_ends_with_the_process(self):
        target = self.start(rec.target("deadlock"))
        running = subprocess.Popen([rec.REC, "threads", "-p", str(target.pid), "--interval", "50ms"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.stdout.readline()
        target.send_signal(signal.SIGKILL)
        target.wait()
        _, errors = running.communicate(timeout=rec.TIMEOUT_S)
        self.assertEqual(running.returncode, 125)
        self.assertIn("no such process", errors)


class OneInstant(Watched):
    def read_stopped(self, pid, **options):
        done = self.rec("stacks", "--stop", "-p", pid, "--json", **options)
        return json.loads(done.stdout)["threads"]

    def test_all_threads_have_the_stacks_of_their_registers(self):
        target = self.start(rec.target("attached"), 30, 3, 4, **as_nobody())
        threads = self.read_stopped(target.pid, **as_nobody())
        self.assertTrue(all(thread["is_complete"] for thread in threads), threads)
        self.assertGreaterEqual(sum("existing_work" in functions(thread) for thread in threads), 3)

    def test_nothing_stays_stopped(self):
        target, before = self.start_calls()
        threads = {thread["name"]: thread for thread in self.read_stopped(target.pid)}
        self.assertTrue(threads["mutex"]["is_complete"])
        self.assertEqual(threads["mutex"]["waits"]["kind"], "lock")
        self.assertTrue(threads["vfork"]["is_complete"], "a thread that does not stop is read without a stop")
        after = self.threads(target.pid)
        self.assertEqual(set(after) - {"done"}, set(before) - {name for name in before if name not in after})
        for thread in after.values():
            self.assertIn(thread["state"], "SD")
        status = open(f"/proc/{target.pid}/status", encoding="ascii").read()
        self.assertRegex(status, r"TracerPid:\s+0\n")

    def test_nor_when_rec_is_killed(self):
        target = self.start(rec.target("attached"), 60, 2, 200)
        for delay_s in (0.01, 0.02, 0.03, 0.05, 0.08):
            running = subprocess.Popen([rec.REC, "stacks", "--stop", "-p", str(target.pid)],
                                       stdout=subprocess.DEVNULL)
            time.sleep(delay_s)
            running.kill()
            running.wait()
        end = time.monotonic() + 10
        while set(states(target.pid)) & set("tT") and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(set(states(target.pid)) & set("tT"), set())


def states(pid):
    """The letters of all threads."""
    return [open(f"/proc/{pid}/task/{tid}/stat", encoding="ascii").read().rpartition(")")[2].split()[0]
            for tid in os.listdir(f"/proc/{pid}/task")]


class Refusals(Watched):
    def refused(self, *words, **options):
        lines = self.rec("stacks", *words, status=125, **options).stderr.splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_each_has_one_line(self):
        self.assertIn("no such process", self.refused("-p", 1 << 22))
        self.assertIn("needs a process", self.refused())
        self.assertIn("a kernel thread", self.refused("-p", 2))
        ended = subprocess.Popen(["true"], stdout=subprocess.PIPE)
        self.targets.append(ended)
        while open(f"/proc/{ended.pid}/stat", encoding="ascii").read().split()[2] != "Z":
            time.sleep(0.01)
        self.assertIn("a zombie", self.refused("-p", ended.pid))

    def test_another_users_process_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("needs root for a process of another user")
        target = self.start(rec.target("deadlock"))
        self.assertIn("a process of another user", self.refused("-p", target.pid, **as_nobody()))

    def test_other_processes_are_still_read(self):
        target, _ = self.start_deadlock()
        done = self.rec("stacks", "-p", f"{1 << 22},{target.pid}", status=125)
        self.assertIn("has_first", done.stdout)
        self.assertIn("no such process", done.stderr)


class TheTarget(Watched):
    def test_is_left_as_it_was(self):
        target, _ = self.start_calls()
        before = sorted(os.listdir(f"/proc/{target.pid}/fd"))
        self.rec("stacks", "-p", target.pid)
        self.rec("threads", "-p", target.pid)
        status = open(f"/proc/{target.pid}/status", encoding="ascii").read()
        self.assertRegex(status, r"State:\s+S")
        self.assertRegex(status, r"TracerPid:\s+0\n")
        self.assertEqual(sorted(os.listdir(f"/proc/{target.pid}/fd")), before)

    def test_a_stopped_one_stays_stopped(self):
        target, _ = self.start_deadlock()
        target.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)
        threads = self.threads(target.pid)
        self.assertEqual(threads["has_first"]["waits"]["kind"], "stopped")
        self.assertIn("take_second", functions(threads["has_first"]))
        self.assertEqual(threads["has_first"]["state"], "T")

    def test_a_call_continued_after_a_stop_keeps_its_reason(self):
        target, _ = self.start_calls()
        target.send_signal(signal.SIGSTOP)
        while states(target.pid).count("T") < 50:  # the thread in vfork() does not stop
            time.sleep(0.05)
        target.send_signal(signal.SIGCONT)
        threads = self.threads(target.pid, lambda threads: threads["nanosleep"]["waits"]["kind"] != "stopped")
        for name, kind in ("nanosleep", "sleep"), ("condition_timed", "condition variable"):
            self.assertEqual(threads[name]["waits"]["kind"], kind, threads[name])


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waiting servers, runtimes, shells and compilers: `rec stacks` has the complete stack of every thread, frame by frame that
of gdb, which stops the program; below code made at run time gdb is lost, and the stack is compared up to there."""
import collections
import glob
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

import process_tree
import rec

NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
DEPTH = 20  # of the calls of deep()
ROUNDS = 8  # threads with a timer move between both looks
GDB = """
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, frames = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append(f"{frame.pc():x}")
        try:
            frame = frame.older()
        except gdb.error:
            break
    print("STACK", thread.ptid[1], *frames)
"""
PYTHON = ("import threading, time, queue, select\n"
          "lock = threading.Lock(); lock.acquire()\n"
          "for call in (lock.acquire, queue.Queue().get, lambda: time.sleep(600), lambda: select.select([], [], [])):\n"
          "    threading.Thread(target=call, daemon=True).start()\n"
          "input()\n")
NODE = ("const {Worker} = require('worker_threads'); setInterval(() => {}, 100000);"
        "new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', {eval: true});"
        "process.stdin.resume();")
# deep() is compiled by the time it waits.
JAVA = """
import java.util.concurrent.locks.LockSupport;
public class Waits {
    static int sink;
    static int deep(int depth, boolean waits) {
        if (depth > 0) return deep(depth - 1, waits) + 1;
        if (waits) for (;;) LockSupport.park();
        return sink++;
    }
    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 20000; i++) deep(20, false);
        for (int i = 0; i < 3; i++) new Thread(() -> deep(20, true)).start();
        synchronized (Waits.class) { Waits.class.wait(); }
    }
}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def snapshot(pid):
    done = subprocess.run([rec.REC, "stacks", "--no-inline", "--json", "-p", str(pid)], capture_output=True, text=True,
                          check=True, timeout=rec.TIMEOUT_S)
    return {thread["tid"]: thread for thread in json.loads(done.stdout)["threads"]}


def biases(pid):
    done = subprocess.run([rec.REC, "images", "--json", "-p", str(pid)], capture_output=True, text=True, check=True,
                          timeout=rec.TIMEOUT_S)
    return [(image["start"], image["end"], image["load_bias"]) for image in json.loads(done.stdout)["images"]]


class Gdb(rec.Case):
    def setUp(self):
        super().setUp()
        self.started = []
        os.chmod(self.directory, 0o777)
        self.script = os.path.join(self.directory, "stacks.py")
        pathlib.Path(self.script).write_text(GDB, encoding="utf-8")

    def find(self, name):
        places = [shutil.which(name), *glob.glob(f"/usr/sbin/{name}"), *glob.glob(f"/usr/lib/postgresql/*/bin/{name}")]
        found = [place for place in places if place and os.path.exists(place)]
        if not found:
            self.skipTest(f"there is no {name} on this machine")
        return found[0]

    def run_as_nobody(self, *command):
        subprocess.run([str(word) for word in command], cwd=self.directory, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **AS_NOBODY)

    def start(self, *command):
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.directory,
                                   env={**os.environ, "HOME": self.directory}, **AS_NOBODY)
        self.addCleanup(process_tree.end, process)
        self.started.append(process.pid)
        return process.pid

    def stacks_of_gdb(self, pid):
        """Addresses as rec has them: in the file, inside of the calls; None: code without a file."""
        done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
                               "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on", "-p", str(pid), "-x",
                               self.script], capture_output=True, text=True, timeout=rec.TIMEOUT_S, check=False)
        images, stacks = biases(pid), {}
        if "STACK " not in done.stdout:
            print("gdb has no stacks:", done.returncode, done.stderr[-400:], flush=True)
        for line in re.findall(r"^STACK (.*)$", done.stdout, re.M):
            tid, *frames = line.split()
            stacks[int(tid)] = [self.in_file(images, int(frame, 16) - (i > 0)) for i, frame in enumerate(frames)]
        return stacks

    @staticmethod
    def in_file(images, address):
        for start, end, bias in images:
            if start <= address < end:
                return address - bias
        return None

    @staticmethod
    def comparable(frames):
        """Up to code made at run time, or by node's own compiler when node was built."""
        return frames[:frames.index(None)] if None in frames else frames

    def agree(self, thread, oracle):
        ours = self.comparable([None if "module" not in frame or frame["function"].startswith(("Builtins_", "[anon")) else
                                frame["address"] for frame in thread["frames"]])
        theirs = self.comparable(oracle)
        has_jit = len(ours) < len(thread["frames"]) or len(theirs) < len(oracle)
        shared = min(len(ours), len(theirs)) if has_jit else max(len(ours), len(theirs))
        return ours[:shared] == theirs[:shared], ours, theirs

    def compare(self, pid, counts):
        """A thread that differs in every round differs. A round without a comparison decides nothing: a program that
        has not begun to wait, or a gdb that got no stack."""
        different = {}
        for _ in range(ROUNDS):
            threads = snapshot(pid)
            oracles = self.stacks_of_gdb(pid)
            again = {tid: self.agree(thread, oracles[tid]) for tid, thread in threads.items()
                     if tid in oracles and "waits" in thread and "frames" in thread}
            different = {tid: found for tid, found in again.items() if not found[0] and (tid in different or not different)}
            if again and not different:
                break
        counts["threads"] += len(threads)
        counts["compared"] += len(again)
        counts["complete"] += sum(thread["is_complete"] for thread in threads.values())
        counts["differ"] += len(different)
        for tid, (_, ours, theirs) in different.items():
            print("differs", tid, threads[tid]["name"], "\n ", ours, "\n ", theirs, [f["function"] for f in threads[tid]["frames"]])
        return [thread for thread in threads.values() if not thread["is_complete"]]

    def check(self, *command, pause_s=0.5):
        pid = self.start(*command)
        time.sleep(pause_s)
        counts, incomplete = collections.Counter(), []
        for child in process_tree.descendants(pid):
            incomplete += self.compare(child, counts)
        print(os.path.basename(str(command[0])), dict(counts), flush=True)
        self.assertGreater(counts["compared"], 0)
        self.assertGreaterEqual(counts["compared"], 0.8 * counts["threads"])
        self.assertEqual(counts["differ"], 0)
        return counts, incomplete

    def check_complete(self, *command, **how):
        counts, incomplete = self.check(*command, **how)
        self.assertEqual(counts["complete"], counts["threads"], incomplete)

    def test_python(self):
        self.check_complete("/usr/bin/python3", "-c", PYTHON)

    def test_node(self):
        self.check_complete(self.find("node"), "-e", NODE, pause_s=2)

    def test_redis(self):
        self.check_complete(self.find("redis-server"), "--port", free_port(), "--save", "", "--logfile", "/dev/null")

    def test_memcached(self):
        self.check_complete(self.find("memcached"), "-p", free_port(), "-U", "0", "-l", "127.0.0.1")

    def test_mariadb(self):
        data = f"{self.directory}/mariadb"
        self.run_as_nobody(self.find("mariadb-install-db"), "--no-defaults", f"--datadir={data}",
                           "--auth-root-authentication-method=normal", "--skip-test-db")
        self.check_complete(self.find("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={self.directory}/socket",
                            "--skip-networking", "--innodb-buffer-pool-size=8M", pause_s=5)

    def test_postgres(self):
        data = f"{self.directory}/postgres"
        self.run_as_nobody(self.find("initdb"), "-D", data, "-U", "postgres")
        self.check_complete(self.find("postgres"), "-D", data, "-c", "listen_addresses=", "-k", self.directory, pause_s=2)

    def test_bash(self):
        self.check_complete(self.find("bash"), "-c", "while read line; do :; done")
        self.check_complete(self.find("bash"), "-c", "sleep 600; true")

    def test_gcc(self):
        self.check_complete(self.find("gcc"), "-pipe", "-x", "c", "-c", "-o", "/dev/null", "-")

    def test_make(self):
        pathlib.Path(self.directory, "Makefile").write_text("all:\n\t@sleep 600\n", encoding="ascii")
        self.check_complete(self.find("make"))

    def java(self, *options):
        source = pathlib.Path(self.directory, "Waits.java")
        source.write_text(JAVA, encoding="utf-8")
        subprocess.run([self.find("javac"), source], cwd=self.directory, check=True)
        return self.check(self.find("java"), "-Xmx200m", *options, "-cp", self.directory, "Waits", pause_s=3)

    def calls_of_deep(self):
        """Calls in the stacks of the threads below deep(), as they are complete or not."""
        found = {True: [], False: []}
        for thread in snapshot(self.started[-1]).values():
            if re.match(r"Thread-[0-9]", thread["name"]):
                found[thread["is_complete"]].append(sum(frame["function"].startswith("[anon") for frame in thread["frames"]))
        self.assertEqual(len(found[True] + found[False]), 3)
        return found

    def test_java_interpreted(self):
        counts, incomplete = self.java("-Xint")
        self.assertEqual(counts["complete"], counts["threads"], incomplete)
        self.assertGreater(min(self.calls_of_deep()[True]), DEPTH)

    def test_java_compiled_with_frame_pointers(self):
        counts, incomplete = self.java("-XX:+PreserveFramePointer", "-XX:-TieredCompilation", "-XX:-Inline")
        self.assertEqual(counts["complete"], counts["threads"], incomplete)
        self.assertGreater(min(self.calls_of_deep()[True]), DEPTH)

    def test_java_compiled_without(self):
        """Without inlined calls, the depth of a complete stack is that of the program; the stack of compiled code is
        not complete, and names the cause."""
        for options in (["-XX:-TieredCompilation"], []):
            with self.subTest(options=options):
                _, incomplete = self.java("-XX:-Inline", *options)
                calls = self.calls_of_deep()
                print("java without frame pointers, calls by completeness:", calls, flush=True)
                self.assertGreater(len(calls[False]), 0)
                self.assertGreater(min(calls[True], default=DEPTH + 1), DEPTH)
                for thread in incomplete:
                    self.assertRegex(thread["problem"], "JIT code without frame pointers")


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stack of a waiting thread, read without its registers, has the frames of the stack from all registers by ptrace,
which stops the program: more than 1000 waits of more than 20 programs."""
import collections
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

import process_tree
import rec

WAITS, PROGRAMS_MIN, ROUNDS_MAX = 1000, 20, 60
LONG_S = 600
NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

NODE = ("const {Worker} = require('worker_threads'); setInterval(() => {}, 7);"
        "for (let i = 0; i < 2; i++) new Worker(\"setInterval(() => {}, 11)\", {eval: true});"
        "new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', {eval: true});")
PYTHON = ("import threading, time, queue\n"
          "lock = threading.Lock(); lock.acquire(); wait = threading.Condition(); items = queue.Queue()\n"
          "def condition():\n with wait: wait.wait()\n"
          "def nap():\n while True: time.sleep(0.02)\n"
          "for work in (lock.acquire, condition, items.get, nap, nap): threading.Thread(target=work).start()\n"
          "input()\n")
JAVA = """
public class Waits {
    static final Object lock = new Object();
    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 4; i++)
            new Thread(() -> {
                try { synchronized (lock) { lock.wait(); } } catch (InterruptedException error) { }
            }).start();
    }
}
"""
PERL = "while (<STDIN>) { print }"
SHELL = "while read line; do echo $line; done"
FED = ("bash", "dash", "perl", "awk", "sed", "naps")  # each wait ends with a line of input

# C and C++ with frame pointers: the frames that make a frame pointer necessary.
NAPS = r"""
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int sink;
static void nap(void) { char c; if (read(0, &c, 1) < 1) _exit(0); sink++; }
static void __attribute__((noinline)) with_alloca(int n) { char *p = (char *)alloca(n); memset(p, 1, n); nap(); sink += p[n / 2]; }
static void __attribute__((noinline)) realigned(void) { char a[64] __attribute__((aligned(64))); memset(a, 2, 64); nap(); sink += a[3]; }
static int __attribute__((noinline)) many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k)
{ nap(); return a + b + c + d + e + f + g + h + i + j + k + sink; }
static int __attribute__((noinline)) compare(const void *a, const void *b)
{ if (sink % 3 == 0) nap(); sink++; return *(const int *)a - *(const int *)b; }
int main(void)
{
    for (;;) {
        int numbers[] = {3, 1, 2, 5};
        with_alloca(100 + 64 * (sink % 50));
        realigned();
        sink += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        qsort(numbers, 4, sizeof(numbers[0]), compare);
    }
}
"""


def write(directory, name, text):
    path = pathlib.Path(directory, name)
    path.write_text(text, encoding="utf-8")
    return str(path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def stacks(pid, *options):
    done = subprocess.run([rec.REC, "stacks", "--no-inline", "--json", *options, "-p", str(pid)], capture_output=True,
                          text=True, check=False, timeout=rec.TIMEOUT_S)
    if done.returncode:
        return {}
    return {thread["tid"]: thread for thread in json.loads(done.stdout)["threads"]}


def frames(thread):
    return [(frame.get("module"), frame["address"]) for frame in thread["frames"]]


def turns(thread):
    return thread["voluntary_switches"], thread["involuntary_switches"]


class Frames(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o777)
        self.running = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.running:
            process_tree.end(process)

    def start(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"there is no {command[0]} on this machine")
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   cwd=self.directory, env={**os.environ, "HOME": self.directory}, **AS_NOBODY)
        self.running.append(process)
        return process

    def built(self, name, compiler, source, *flags):
        path = os.path.join(self.directory, name)
        suffix = ".cc" if "++" in compiler else ".c"
        subprocess.run([compiler, *flags, "-w", "-o", path, write(self.directory, name + suffix, source)], check=True)
        return path

    def programs(self):
        directory = self.directory
        subprocess.run(["javac", write(directory, "Waits.java", JAVA)], cwd=directory, check=True)
        yield "python3", ("/usr/bin/python3", "-c", PYTHON)
        yield "node", ("node", "-e", NODE)
        yield "java", ("java", "-Xmx200m", "-cp", directory, "Waits")
        yield "redis-server", ("redis-server", "--port", free_port(), "--save", "", "--logfile", "/dev/null")
        yield "memcached", ("memcached", "-p", free_port(), "-U", "0", "-l", "127.0.0.1")
        yield "bash", ("bash", "-c", SHELL)
        yield "dash", ("dash", "-c", SHELL)
        yield "perl", ("perl", "-e", PERL)
        yield "sqlite3", ("sqlite3",)
        yield "gdb", ("gdb", "-q", "-nx")
        yield "make", ("make", "-f", write(directory, "Makefile", "all:\n\t@sleep 1000\n"))
        yield "tar", ("tar", "cf", "/dev/null", "-T", "-")
        yield "xz", ("xz",)
        yield "cat", ("cat",)
        yield "sort", ("sort",)
        yield "awk", ("awk", "{print}")
        yield "sed", ("sed", "p")
        yield "git", ("git", "hash-object", "--stdin")
        yield "openssl", ("openssl", "dgst", "-sha256")
        yield "g++", ("g++", "-x", "c++", "-c", "-o", "/dev/null", "-")
        yield "as", ("as", "-o", "/dev/null", "-")
        yield "tail", ("tail", "-f", "/etc/passwd")
        yield "blocked_calls", (rec.target("blocked_calls"), str(LONG_S))
        for compiler in ("gcc", "g++", "clang-14", "clang++-14"):
            for level in ("-O0", "-O2"):
                name = f"naps-{compiler}{level}"
                yield name, (self.built(name, compiler, NAPS, level, "-fno-omit-frame-pointer"),)

    def compare(self, name, pid, counts):
        before = stacks(pid)
        after = stacks(pid, "--stop") if before else {}
        for tid, thread in before.items():
            truth = after.get(tid)
            if not truth or "waits" not in thread or not thread.get("frames") or turns(thread) != turns(truth):
                continue
            counts[name, "waits"] += 1
            counts[name, "complete"] += thread["is_complete"]
            counts[name, "inferred"] += thread["has_inferred_frame_pointer"]
            if frames(thread) != frames(truth):
                counts[name, "differ"] += 1
                print(name, tid, "\n  ", frames(thread), "\n  ", frames(truth))

    def test_frames_are_those_of_all_registers(self):
        counts = collections.Counter()
        names = []
        for name, command in self.programs():
            process = self.start(*command)
            names.append(name)
            time.sleep(1.5 if name in ("java", "node", "gdb") else 0.3)
            for _ in range(ROUNDS_MAX):
                for pid in process_tree.descendants(process.pid):
                    self.compare(name, pid, counts)
                if counts[name, "waits"] >= 50:
                    break
                if name.startswith(FED):
                    process.stdin.write(b"\n")
                    process.stdin.flush()
                    time.sleep(0.02)
            print(name, {kind: counts[name, kind] for kind in ("waits", "complete", "inferred", "differ")}, flush=True)
            self.end_all()
            self.running.clear()
        waits = {name: counts[name, "waits"] for name in names}
        self.assertGreaterEqual(sum(count > 0 for count in waits.values()), PROGRAMS_MIN)
        self.assertGreaterEqual(sum(waits.values()), WAITS)
        self.assertEqual(sum(counts[name, "differ"] for name in names), 0)
        incomplete = {name: waits[name] - counts[name, "complete"] for name in names}
        self.assertLessEqual(sum(incomplete.values()), 0.005 * sum(waits.values()), incomplete)


if __name__ == "__main__":
    rec.main()

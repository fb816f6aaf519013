#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes in other pid and mount namespaces are recorded and read as any other: the names of a program that is at
no path of rec's, code of a compiler with a perf map in the other /tmp, and both pids."""
import json
import os
import shutil
import subprocess

import rec

# At the place of its code, the bytes of a loop; the perf map has the pid of the namespace.
WITH_MAP = """
import ctypes, mmap, os
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("4889f8 48ffc8 75fb c3".replace(" ", "")))
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
open(f"/tmp/perf-{os.getpid()}.map", "w").write(f"{start:x} 40 compiled_loop\\n")
print("ready", flush=True)
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)(start)
while True:
    call(10 ** 8)
"""


class Namespaces(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("another root directory is for root")
        self.root = os.path.join(self.directory, "root")
        for name in ("only", "proc", "tmp", "dev"):
            os.makedirs(os.path.join(self.root, name))
        shutil.copy(rec.target("attached_static"), os.path.join(self.root, "only/inner"))
        self.target = None

    def tearDown(self):
        if self.target:
            subprocess.run(["kill", "-9", str(self.pid)], check=False)
            self.target.kill()
            self.target.wait()
            self.target.stdout.close()

    def start(self, *command):
        """The pid here of the program, the last of the processes started one by the other."""
        self.target = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
        self.assertEqual(self.target.stdout.readline(), b"ready\n")
        self.pid = self.target.pid
        while children := self.children():
            self.pid = int(children[0])
        self.inner_pid = self.inner_id(self.pid)

    def inner_id(self, tid):
        with open(f"/proc/{self.pid}/task/{tid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("NSpid:")).split()[-1])

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as file:
            return file.read().split()

    def check(self, *command):
        self.start(*command)
        self.check_target()

    def check_target(self):
        run = self.run_in(self.new_directory(), [rec.REC, "-p", self.pid, "--duration", "0.7"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertGreater(run.share_of("existing_work"), 90, run.stderr.decode())
        self.assertEqual(run.complete_percent(), 100)
        inner = "" if self.pid == self.inner_pid else f", namespace pid {self.inner_pid}"
        self.assertEqual(run.summary["target"], f"process {self.pid}{inner} (inner)")
        read = subprocess.run([rec.REC, "stacks", "--json", "-p", str(self.pid)], capture_output=True, check=True)
        snapshot = json.loads(read.stdout)
        self.assertEqual(snapshot["pid"], self.pid)
        self.assertEqual(snapshot.get("namespace_pid", self.pid), self.inner_pid)
        self.assertIn("existing_work", {frame["function"] for thread in snapshot["threads"] for frame in thread["frames"]})
        for what in ("stacks", "threads"):
            text = subprocess.run([rec.REC, what, "-p", str(self.pid)], capture_output=True, check=True).stdout.decode()
            self.assertTrue(text.startswith(f"Process {self.pid}{inner} (inner), 2 threads\n"), text)
        images = subprocess.run([rec.REC, "images", "-p", str(self.pid)], capture_output=True, check=True).stdout.decode()
        self.assertTrue(images.startswith(f"Process {self.pid}{inner} (inner), "), images)

    def test_chroot(self):
        self.check("chroot", self.root, "/only/inner", 60, 1, 1)

    def test_unshare(self):
        self.need_program("unshare")
        self.check("unshare", "-Urpf", "--mount-proc", "chroot", self.root, "/only/inner", 60, 1, 1)
        self.assertEqual(self.inner_pid, 1)

    def test_a_bind_mount(self):
        """The path of the program exists in the other mount namespace only."""
        self.need_program("unshare")
        self.start("unshare", "-Urm", "sh", "-c", 'mount --bind "$0/only" "$0/tmp" && exec "$0/tmp/inner" 60 1 1', self.root)
        self.check_target()

    def test_bubblewrap(self):
        self.need_program("bwrap")
        self.check("bwrap", "--bind", self.root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                   "--unshare-all", "/only/inner", 60, 1, 1)
        self.assertNotEqual(self.inner_pid, self.pid)

    def test_the_system(self):
        self.need_program("unshare")
        self.start("unshare", "-Urpf", "--mount-proc", "chroot", self.root, "/only/inner", 60, 2, 1)
        run = self.run_in(self.new_directory(), [rec.REC, "-a", "--duration", "0.7"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertTrue(any("existing_work" in stack for stack in run.stacks()))
        processes = {process["pid"]: process for process in run.info["processes"]}
        self.assertEqual(processes[self.pid]["name"], "inner")
        self.assertEqual(processes[self.pid]["namespace_pid"], self.inner_pid)
        tids = {thread["tid"]: thread.get("namespace_tid") for thread in run.info["threads"] if thread["pid"] == self.pid}
        self.assertGreater(len(tids), 1)
        self.assertEqual(tids, {tid: self.inner_id(tid) for tid in tids})

    def test_code_with_a_perf_map_in_another_tmp(self):
        self.need_program("bwrap")
        self.start("bwrap", "--bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-all",
                   self.need_program("/usr/bin/python3"), "-c", WITH_MAP)
        run = self.run_in(self.new_directory(), [rec.REC, "-p", self.pid, "--duration", "0.7"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertGreater(run.share_of("compiled_loop"), 90, run.stderr.decode())


if __name__ == "__main__":
    rec.main()

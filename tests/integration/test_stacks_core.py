#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec stacks --core` prints the threads of a core file as gdb does."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import hostile_cores
import measured
import rec

CPU_S = rec.figure(4, 2) # tests beside it on shared processors nearly double it
MEMORY_BYTES = 128 << 20


class Cores(rec.Case):
    def setUp(self):
        super().setUp()
        self.target = None

    def tearDown(self):
        if self.target:
            self.target.kill()
            self.target.wait()
            self.target.stdout.close()

    def make_core(self, program):
        """A core file by gdb, of a program whose threads wait."""
        if not shutil.which("gcore"):
            self.skipTest("needs gcore of gdb")
        self.target = subprocess.Popen([program, "60"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        time.sleep(1)
        directory = self.new_directory()
        subprocess.run(["gcore", "-o", "core", str(self.target.pid)], cwd=directory, check=True,
                       capture_output=True, timeout=rec.TIMEOUT_S)
        return os.path.join(directory, f"core.{self.target.pid}")

    def kernels_core(self, program, *arguments):
        """A core file by the kernel, where it writes them into the program's directory."""
        self.target = subprocess.Popen([os.path.join(rec.TARGETS, program), *arguments], stdout=subprocess.PIPE, text=True,
                                       cwd=self.new_directory(), preexec_fn=allow_cores)
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        time.sleep(1)
        directory = os.readlink(f"/proc/{self.target.pid}/cwd")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.target.send_signal(signal.SIGABRT)
        self.target.wait()
        cores = [name for name in os.listdir(directory) if name.startswith("core")]
        if len(cores) != 1:
            self.skipTest("kernel.core_pattern leads elsewhere")
        return os.path.join(directory, cores[0])

    def read(self, *words):
        done = subprocess.run([rec.REC, "stacks", "--json", "--core", *words], capture_output=True, text=True,
                              timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words):
        done = subprocess.run([rec.REC, "stacks", *words], capture_output=True, text=True, timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def frames_of_gdb(self, core, program):
        """Names of all frames, by tid."""
        done = subprocess.run(["gdb", "-q", "-batch", "-ex", "set debuginfod enabled off",
                               "-ex", "set print frame-arguments none", "-ex", "thread apply all bt", program, core],
                              capture_output=True, text=True, timeout=rec.TIMEOUT_S)
        frames = {}
        for line in done.stdout.splitlines():
            thread = re.match(r"Thread \d+ \(.*LWP (\d+)", line)
            frame = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?([\w:~]+) ", line)
            if thread:
                frames[int(thread[1])] = []
            elif frame and frames:
                frames[list(frames)[-1]].append(frame[1])
        return frames


class OfThisMachine(Cores):
    def test_every_thread_is_complete_and_as_gdb_has_it(self):
        core = self.kernels_core("blocked_calls", "60")
        found = self.read(core)
        gdb = self.frames_of_gdb(core, rec.target("blocked_calls"))
        self.assertEqual(found["name"], "blocked_calls")
        self.assertEqual({thread["tid"] for thread in found["threads"]}, set(gdb))
        self.assertGreaterEqual(len(gdb), 51)
        for thread in found["threads"]:
            self.assertTrue(thread["is_complete"], thread)
            names = [frame["function"] for frame in thread["frames"]]
            own = [name for name in gdb[thread["tid"]] if name.startswith(("blocked_", "call_", "main"))]
            self.assertEqual([name for name in names if name.startswith(("blocked_", "call_", "main"))], own)

    def test_the_signal_is_shown(self):
        core = self.kernels_core("deadlock")
        thread = self.read(core)["threads"][0]
        self.assertEqual(thread["signal"], 6)
        self.assertTrue(thread["is_complete"], thread)
        text = subprocess.run([rec.REC, "stacks", "--core", core], capture_output=True, text=True, check=True).stdout
        self.assertIn("ended by signal 6 (Aborted)", text)


def allow_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class OfOtherFiles(Cores):
    def test_another_build_gives_no_names(self):
        directory = self.new_directory()
        program = os.path.join(directory, "program")
        shutil.copy(rec.target("deadlock"), program)
        core = self.kernels_core(program)
        os.unlink(program)
        shutil.copy(rec.target("waits"), program)
        names = {frame["function"] for thread in self.read(core)["threads"] for frame in thread["frames"]}
        self.assertIn("[program of another build]", names)
        self.assertNotIn("take_first", names)
        moved = rec.target("deadlock")
        self.assertTrue(all(thread["is_complete"] for thread in self.read(core, moved)["threads"]))

    def test_damage_has_one_line(self):
        core = os.path.join(self.new_directory(), "core")
        self.assertIn("cannot open", self.refused("--core", core))
        with open(core, "wb") as file:
            file.write(b"\x7fELF\2\1\1" + bytes(200))
        self.assertIn("not a core file", self.refused("--core", core))
        self.assertIn("not a regular file", self.refused("--core", "/dev/null"))
        self.assertIn("not a core file", self.refused("--core", rec.target("deadlock")))
        self.assertIn("either a process or a core file", self.refused("--core", core, "-p", "1"))

    def test_the_time_for_a_core_is_limited(self):
        core = self.write_core(hostile_cores.threads_with_deep_stacks)
        self.assertIn("time limit", self.refused("--timeout", "1ms", "--core", core))

    def write_core(self, make):
        """In a child: its memory is no memory of what is measured."""
        core = os.path.join(self.new_directory(), "core")
        pid = os.fork()
        if pid == 0:
            with open(core, "wb") as file:
                file.write(make())
            os._exit(0)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        return core

    def test_hostile_cores_cost_no_more_than_their_size(self):
        for kind, make in hostile_cores.CORES.items():
            core = self.write_core(make)
            for words in (["stacks"], ["stacks", "--json"]):
                with self.subTest(kind=kind, words=words):
                    # Its own limit, five seconds by the clock, would end the reading on a busy machine.
                    run = measured.Run(os.path.dirname(core), [*words, "--timeout=60s", "--core", core])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assertLess(run.cpu_s, CPU_S)
                    self.assertLess(run.bytes, MEMORY_BYTES)

    def test_a_cut_core_is_read_as_far_as_it_goes(self):
        core = self.make_core(rec.target("deadlock"))
        for part in 2, 10, 100, 1000:
            os.truncate(core, os.path.getsize(core) // part + 4096)
            done = subprocess.run([rec.REC, "stacks", "--core", core], capture_output=True, text=True,
                                  timeout=rec.TIMEOUT_S)
            self.assertIn(done.returncode, (0, 125), done.stderr)


if __name__ == "__main__":
    rec.main()

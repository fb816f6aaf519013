# SPDX-License-Identifier: MIT
"""Recordings by the installed perf, and what rec reads from them against what perf reads."""
import collections
import json
import os
import shutil
import subprocess
import tempfile

import perf_script
import rec

# Threads, processes, system calls, page faults; less than half a second.
PROGRAM = ["/usr/bin/python3", "-c", """
import hashlib, os, subprocess, sys, threading, time
print(os.getpid(), file=sys.stderr)
def work():
    for _ in range(15):
        hashlib.sha256(b'x' * 200000).hexdigest()
        sorted(range(20000), key=lambda i: -i)
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; ls / > /dev/null'])
time.sleep(0.01)
"""]
CLOCK = ["-F", "1999", "-e", "cpu-clock"]
SOFTWARE = ["-e", "cpu-clock,task-clock,context-switches,page-faults"]
IDLE_TID = 0  # of a CPU that does nothing
# What cpu time is called in pprof.
COLUMNS = {"cpu-clock": "cpu", "cpu-clock:S": "cpu"}


class Case(rec.Case):
    program_pid = None

    @classmethod
    def setUpClass(cls):
        cls.common = {}  # options: (path, pid of the program) of recordings that several tests read

    def common_record(self, *options):
        """A copy of a recording that is made once."""
        if options not in self.common:
            path = self.perf_record(*options)
            kept = tempfile.mkdtemp(prefix="rec-test-")
            self.addClassCleanup(shutil.rmtree, kept, ignore_errors=True)
            self.common[options] = shutil.copy(path, kept), self.program_pid
        kept, self.program_pid = self.common[options]
        return shutil.copy(kept, self.new_directory())

    def perf_record(self, *options, name="perf.data", program=PROGRAM):
        """The path of a recording; skips the test when this machine does not let perf do it."""
        self.need_program("perf")
        here = self.new_directory()
        path = f"{here}/{name}"
        done = subprocess.run(["perf", "record", "-q", "-o", path, *options, "--", *program],
                              cwd=here, capture_output=True, text=True, timeout=60,
                              env=perf_script.environment())
        if done.returncode or not os.path.exists(path):
            self.skipTest(f"perf record {' '.join(options)}: {done.stderr.strip()[-200:]}")
        self.program_pid = int((done.stderr.split() or [0])[-1])
        return path

    def convert(self, path, *options, **how):
        out = f"{self.new_directory()}/out.pb"
        done = subprocess.run([rec.REC, "convert", path, "-o", out, *options], capture_output=True,
                              timeout=60, **how)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return out

    def compare(self, path, minimum=20, ours=None, only_program=False,
                difference=perf_script.difference):
        """Every (tid, event, stack, period) of perf's is one of rec's. only_program: in its threads;
        what else runs on the machine may be gone, or another file, by the time of the conversion."""
        text = perf_script.run(path)
        self.assertIsNotNone(text, "perf script cannot read its own file")
        perf = perf_script.read(text)
        ours = perf_script.read_rec(ours or self.convert(path))
        reasons = collections.Counter()
        samples = 0
        own = perf_script.descendants(text, self.program_pid) | {IDLE_TID}
        foreign = {tid for tid in perf.names if only_program and tid not in own}
        for tid, event in list(ours.stacks):
            if tid in foreign:
                del ours.stacks[tid, event]
        for (tid, event), stacks in perf.stacks.items():
            if tid in foreign:
                continue
            column = event if (tid, event) in ours.stacks else COLUMNS.get(event, event)
            left, extra = difference(stacks, ours.stacks.pop((tid, column), {}), reasons)
            if left or extra:
                self.fail(f"{event} of thread {tid}: perf has {sum(left.values())} more, rec "
                          f"{sum(extra.values())}\n{perf_script.describe(left, extra)}")
            samples += len(stacks)
        self.assertFalse(ours.stacks, "only rec has")
        self.assertGreaterEqual(samples, minimum, "too little to compare")
        for tid, names in perf.names.items():
            # ":TID" is perf's word for a thread that it has heard nothing of; rec knows its process.
            if tid in ours.names and tid not in foreign and names != {f":{tid}"}:
                self.assertLessEqual(ours.names[tid], names, f"names of thread {tid}")
        print(f"{self.id().split('.')[-1]}: {samples} stacks; {dict(reasons)}")

    def modules(self, path, *options):
        """{path of a file: its build-id} of what was sampled."""
        done = subprocess.run([rec.REC, "info", "--json", path, *options], capture_output=True,
                              text=True, timeout=60)
        return {module["path"]: module.get("build_id", "")
                for module in json.loads(done.stdout)["modules"] if module["path"].startswith("/")}

    def copy_links(self, module, root):
        """The links beside a file that lead to it: programs are shown by the name of the link."""
        for entry in os.scandir(os.path.dirname(module)):
            copy = root + entry.path
            if entry.is_symlink() and os.path.realpath(entry.path) == os.path.realpath(module) \
                    and not os.path.lexists(copy):
                os.symlink(os.path.basename(module), copy)

    def copy_of_files(self, path):
        """A directory that holds all files which were sampled where they lie, as for --symfs."""
        root = self.new_directory()
        for module in self.modules(path):
            os.makedirs(os.path.dirname(root + module), exist_ok=True)
            shutil.copy(module, root + module)
            self.copy_links(module, root)
        shutil.copytree("/usr/lib/debug", root + "/usr/lib/debug")
        return root

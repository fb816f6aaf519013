#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged captures, programs, debug info and descriptions of code: a conversion of each ends within the budgets, with a
profile or with one sentence. Every mutation follows from its kind and number, so a failure can be repeated with
MUTATION=KIND:NUMBER."""
import os
import random
import shutil
import struct
import subprocess
import sys

import bad_elf
import hostile_captures
import measured
import rec

CPU_S = 2
MEMORY_BYTES = 512 << 20
COUNT = int(os.environ.get("MUTATIONS", rec.figure(12, 2000)))  # of each kind
PID = 1 << 30  # of no process
KERNEL = 1     # misc: kernel mode
HOST_NAME, OS_RELEASE = 3, 4  # features of a perf.data
BOUNDARIES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 63, (1 << 64) - 1, (1 << 64) - 16]
IS_SANITIZED = os.path.exists(os.path.join(os.environ.get("BUILD", ""), "CMakeCache.txt")) and \
    "REC_SANITIZE:BOOL=ON" in open(os.path.join(os.environ["BUILD"], "CMakeCache.txt"), encoding="utf-8").read()

PROGRAM = """
#include <stdlib.h>
static inline __attribute__((always_inline)) long inner(long n) { volatile long sum = 0; while (n--) sum += n; return sum; }
static inline __attribute__((always_inline)) long middle(long n) { return inner(n) + inner(n / 2); }
__attribute__((noinline)) long outer(long n) { return middle(n) + middle(n / 3); }
int main(int count, char **words) { for (long i = atol(words[count - 1]); i > 0; i--) outer(20000); return 0; }
"""


def kernel_capture(callchain):
    """Samples in the kernel of this machine, since it was started."""
    start = 0xffffffff80000000
    records = hostile_captures.record(hostile_captures.MMAP, struct.pack("<iIQQQ", -1, 0, start, 1 << 30, start)
                                      + hostile_captures.text("[kernel.kallsyms]_text")
                                      + hostile_captures.trailer(0, 1), KERNEL)
    for time_ns, avma in enumerate(callchain, 2):
        body = struct.pack("<QIIQQQQ", avma, 1, 1, time_ns, 2, (1 << 64) - 128, avma)
        records += hostile_captures.record(hostile_captures.SAMPLE, body, KERNEL)
    content = bytearray(hostile_captures.capture(records))
    struct.pack_into("<Q", content, 72, 1 << HOST_NAME | 1 << OS_RELEASE)
    at, table, texts = len(content) + 32, b"", b""
    for text in (os.uname().nodename, os.uname().release):
        padded = text.encode().ljust(len(text) // 64 * 64 + 64, b"\0")
        table += struct.pack("<QQ", at + len(texts), 4 + len(padded))
        texts += struct.pack("<I", len(padded)) + padded
    return bytes(content) + table + texts


def mutate(content, chaos, ranges):
    """Changes some bytes, or fields at multiples of 4 to boundary values, in the ranges; rarely cuts the end."""
    content = bytearray(content)
    for _ in range(chaos.randrange(1, 20)):
        low, high = chaos.choice(ranges)
        at = chaos.randrange(low, high)
        if chaos.random() < 0.4:
            size = chaos.choice((2, 4, 8))
            value = chaos.choice(BOUNDARIES) & (1 << 8 * size) - 1
            content[at & ~3:(at & ~3) + size] = value.to_bytes(size, "little")
        else:
            content[at] = chaos.choice((0, 0xff, 0x80, content[at] ^ 1 << chaos.randrange(8), chaos.randrange(256)))
    if chaos.random() < 0.1:
        del content[chaos.randrange(len(content)):]
    return content


class Mutations(rec.Case):
    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_rec(self, *words):
        return measured.Run(self.directory, words)

    def check(self, run):
        self.assertIn(run.status, (0, 125), run.stderr)
        self.assertNotIn(b"crashed", run.stderr)
        if run.status:
            self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
        if not IS_SANITIZED:
            self.assertLess(run.cpu_s, CPU_S, run.stderr)
            self.assertLess(run.bytes, MEMORY_BYTES, run.stderr)

    def hold(self, kind, name, capture, function, ranges=None):
        """Mutates the file; each conversion of the capture is bounded. The sound file names the function."""
        convert = ("convert", "-q", capture, "-o", "out.folded")
        self.assertEqual(self.run_rec(*convert).status, 0)
        self.assertIn(function, self.read("out.folded"), kind)
        self.hold_command(kind, name, convert, ranges)

    def hold_command(self, kind, name, command, ranges=None):
        source = self.read(name)
        chosen = os.environ.get("MUTATION", "").rpartition(":")
        for number in range(COUNT) if not chosen[2] else [int(chosen[2])] if chosen[0] == kind else []:
            chaos = random.Random(f"{kind}:{number}")
            self.write(name, mutate(source, chaos, ranges or [(0, len(source))]))
            with self.subTest(mutation=f"{kind}:{number}"):
                self.check(self.run_rec(*command))
        self.write(name, source)

    def build(self, *options):
        self.write("program.c", PROGRAM.encode())
        subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id=none", *options, "program.c", "-o", "program"],
                       cwd=self.directory, check=True)

    def capture_program(self):
        """Samples all over the code of the program."""
        elf = bad_elf.Elf(self.path("program"))
        text = elf.index[".text"]
        svma, offset, size = (elf.field(text, number) for number in (3, 4, 5))
        start = 0x400000
        mapping = struct.pack("<IIQQQ", 1, 1, start, 0x10000, offset & ~0xfff)
        mapping += hostile_captures.text(self.path("program")) + hostile_captures.trailer(1, 1)
        records = hostile_captures.record(hostile_captures.MMAP, mapping)
        for time_ns, at in enumerate(range(0, size, 3), 2):
            records += hostile_captures.sample(1, time_ns, [start + svma % 4096 + at])
        self.write("program.data", hostile_captures.capture(records))

    def sections(self, is_debug):
        elf = bad_elf.Elf(self.path("program"))
        places = [(elf.field(i, 4), elf.field(i, 4) + elf.field(i, 5)) for name, i in elf.index.items()
                  if name.startswith(".debug_") == is_debug and name not in ("", ".bss") and elf.field(i, 5)]
        return places if is_debug else places + 4 * [(0, 64), (64, 512), (elf.table, elf.table + 64 * elf.count)]

    # ---- captures ----

    def test_captures_of_rec(self):
        for kind, options in (("plain", ()), ("compressed", ("-z",))):
            run = self.run_rec("-q", "-o", f"{kind}.data", *options, "--", rec.target("shares"), "300")
            self.assertEqual(run.status, 0, run.stderr)
            self.hold(f"rec {kind}", f"{kind}.data", f"{kind}.data", b"hot_70")
            self.hold(f"rec {kind} header", f"{kind}.data", f"{kind}.data", b"hot_70", [(0, 400)])

    def test_captures_of_perf(self):
        """With registers and stack bytes: unwound by call frame information."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        self.build()
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "500", "--call-graph", "dwarf,1024", "-o",
                               "perf.data", "./program", "1000"], cwd=self.directory, capture_output=True, check=False)
        if done.returncode:
            self.skipTest("perf cannot record here")
        for name in ("perf.data", "program"):
            self.hold(f"perf {name}", name, "perf.data", b"main;outer")
        elf = bad_elf.Elf(self.path("program"))
        frame = elf.index[".eh_frame"]
        self.hold("perf .eh_frame", "program", "perf.data", b"main;outer",
                  [(elf.field(frame, 4), elf.field(frame, 4) + elf.field(frame, 5))])

    def test_captures_that_are_reported(self):
        run = self.run_rec("-q", "-o", "own.data", "--", rec.target("shares"), "300")
        self.assertEqual(run.status, 0, run.stderr)
        for command in ("report", "info"):
            self.hold_command(command, "own.data", (command, "own.data"))

    # ---- programs ----

    def test_programs(self):
        self.build()
        self.capture_program()
        self.hold("elf", "program", "program.data", b"outer", self.sections(is_debug=False))

    def test_debug_info(self):
        for version in (4, 5):
            self.build(f"-gdwarf-{version}")
            self.capture_program()
            self.hold(f"dwarf {version}", "program", "program.data", b"inner", self.sections(is_debug=True))

    def test_compressed_debug_info(self):
        self.build("-gz=zlib")
        self.capture_program()
        self.hold("zlib", "program", "program.data", b"inner", self.sections(is_debug=True))

    # ---- code made at run time, kernel ----

    def test_jitdumps(self):
        name = f"jit-{PID}.dump"
        mapping = hostile_captures.mapping(PID, 1, 0x1000, 4096, self.path(name))
        self.write("jit.data", hostile_captures.capture_of_pids([PID], mapping))
        self.write(name, hostile_captures.jitdump(20000))
        self.hold("jitdump", name, "jit.data", b";f")

    def test_perf_maps(self):
        path = f"/tmp/perf-{PID}.map"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        self.write("jit.data", hostile_captures.capture_of_pids([PID]))
        self.write(path, hostile_captures.perf_map(20000))
        self.hold("perf map", path, "jit.data", b";a")

    def test_kallsyms(self):
        """Bound over /proc/kallsyms in a mount namespace, as in a container."""
        if os.environ.get("KALLSYMS") is None:
            self.run_again_in_a_mount_namespace()
            return
        base = 0xffffffff81000000
        lines = [f"{base + 64 * i:016x} {'tTwWdD'[i % 6]} function_{i}{chr(9) + '[module]' if i % 7 == 0 else ''}"
                 for i in range(1000)]
        self.write("kallsyms", "\n".join(lines).encode())
        subprocess.run(["mount", "--bind", self.path("kallsyms"), "/proc/kallsyms"], check=True)
        self.write("kernel.data", kernel_capture(range(base, base + 64000, 48)))
        self.hold("kallsyms", "kallsyms", "kernel.data", b"function_600")

    def run_again_in_a_mount_namespace(self):
        test = "test_security_mutations.Mutations.test_kallsyms"
        done = subprocess.run(["unshare", "-m", sys.executable, "-m", "unittest", test],
                              cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True,
                              env={**os.environ, "KALLSYMS": "1"}, check=False)
        if "unshare" in done.stderr:
            self.skipTest("cannot make a mount namespace")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    rec.main()

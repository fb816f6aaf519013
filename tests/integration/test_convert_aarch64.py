#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Recordings of an aarch64 machine, read on another one: callchains with their context markers, and copied stacks,
which are unwound with the program's file."""
import json
import os
import shutil
import struct
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests/clients"))
import decoders  # noqa: E402

# What gcc and clang write for functions of this kind, with -mbranch-protection=pac-ret.
PROGRAM = """
    .text
    .macro function name
    .globl \\name
    .type \\name, %function
\\name: .cfi_startproc
    .endm
    .macro end name
    .cfi_endproc
    .size \\name, . - \\name
    .endm
    function leaf
    nop
in_leaf: nop
    ret
    end leaf
    function middle
    .inst 0xd503233f // paciasp
    .cfi_negate_ra_state
    sub sp, sp, #80
    .cfi_def_cfa_offset 80
    str x30, [sp, #64]
    .cfi_offset 30, -16
    bl leaf
in_middle: brk #0
    end middle
    function outer
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    bl middle
in_outer: brk #0
    end outer
    function _start
    .cfi_undefined 30
    bl outer
in_start: brk #0
    end _start

    .section .plt, "ax" // linkers write no CFI for it
    .inst 0xa9bf7bf0 // stp x16, x30, [sp, #-16]!
in_first_entry:
    .rept 7
    nop
    .endr
stub: nop
in_stub: nop
"""
TEXT, STACK, REGISTERS = 0x400000, 0xffffe000, 33
KERNEL, USER = 2**64 - 128, 2**64 - 512
SAMPLE_TYPE = 1 | 2 | 4 | 0x100 | 0x20  # IP TID TIME PERIOD CALLCHAIN
COPIES = 0x1000 | 0x2000  # REGS_USER STACK_USER
LINK = 0x1000, 1 << 30    # perf record -g: REGS_USER, of lr alone
PID = 100


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(string):
    return string.encode() + bytes(8 - len(string) % 8)


def file_of(records, sample_type, machine="aarch64", registers=2**REGISTERS - 1):
    """A perf.data of one event, cpu-clock, with the feature that says which machine it is of."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, sample_type, 4, 0)
    attr += struct.pack("<IIQQQQIiQ", 0, 0, 0, 0, 0, registers, 256, 0, 0)
    attr += bytes(112 - len(attr))
    data_at = 104 + len(attr) + 16
    data = b"".join(records)
    arch = struct.pack("<I", 64) + machine.encode() + bytes(64 - len(machine))
    features = struct.pack("<QQ", data_at + len(data) + 16, len(arch)) + arch
    header = b"PERFILE2" + struct.pack("<12Q", 104, len(attr) + 16, 104, len(attr) + 16, data_at,
                                       len(data), 0, 0, 1 << 6, 0, 0, 0)
    return header + attr + struct.pack("<QQ", 0, 0) + data + features


class Aarch64(rec.Case):
    def setUp(self):
        super().setUp()
        self.here = self.new_directory()

    def build(self):
        """{symbol: file offset} of the program's file, which is loaded as one piece."""
        compilers = [["aarch64-linux-gnu-gcc"],
                     ["clang-14", "--target=aarch64-linux-gnu", "-fuse-ld=lld"],
                     ["clang", "--target=aarch64-linux-gnu", "-fuse-ld=lld"]]
        with open(f"{self.here}/program.s", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for compiler in compilers:
            if shutil.which(compiler[0]) and subprocess.run(
                    [*compiler, "-nostdlib", "-static", "program.s", "-o", "program"],
                    cwd=self.here, capture_output=True, timeout=60).returncode == 0:
                break
        else:
            self.skipTest("nothing here builds aarch64 programs: aarch64-linux-gnu-gcc, or clang and lld")
        lines = subprocess.run(["readelf", "-lsW", "program"], cwd=self.here, capture_output=True,
                               text=True, check=True).stdout.splitlines()
        words = [line.split() for line in lines]
        load = next(word for word in words if word[:1] == ["LOAD"] and "E" in word[6:-1])
        shift = int(load[1], 16) - int(load[2], 16)
        return {word[7]: int(word[1], 16) + shift for word in words
                if len(word) == 8 and word[0].endswith(":") and word[6].isdigit()}

    def names(self, records, sample_type=SAMPLE_TYPE, **how):
        """The stacks, innermost first."""
        with open(f"{self.here}/perf.data", "wb") as file:
            file.write(file_of(records, sample_type, **how))
        done = subprocess.run([rec.REC, "convert", "-q", "perf.data", "-o", "out.pb"], cwd=self.here,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = decoders.Pprof(f"{self.here}/out.pb")
        return [[frame[0] for frame in stack] for stack, _, _ in profile.samples]

    def start(self):
        mapping = struct.pack("<IIQQQIIQQII", PID, PID, TEXT, 0x100000, 0, 0, 0, 0, 0, 5, 2)
        return [record(3, 1 << 13, struct.pack("<II", PID, PID) + text("program")),
                record(10, 2, mapping + text(f"{self.here}/program"))]

    def sample(self, ip, chain, copy=b"", misc=2):
        return record(9, misc, struct.pack(f"<QIIQQQ{len(chain)}Q", ip, PID, PID, 1000, 1000000,
                                           len(chain), *chain) + copy)

    def copy(self, symbols, size, place="in_leaf"):
        """Registers and stack of a thread in leaf(), or at another place that middle() called."""
        registers = [0] * REGISTERS
        registers[30:33] = TEXT + symbols["in_middle"], STACK, TEXT + symbols[place]
        words = [0] * (size // 8)
        words[8] = TEXT + symbols["in_outer"] | 0x3d << 48  # signed
        words[11:12] = [TEXT + symbols["in_start"]] * (len(words) > 11)
        return (struct.pack(f"<Q{REGISTERS}Q", 2, *registers)
                + struct.pack(f"<Q{len(words)}QQ", size, *words, size))

    def test_callchains_keep_their_sides(self):
        symbols = self.build()
        at = {name: TEXT + offset for name, offset in symbols.items()}
        chain = [KERNEL, 0xffff800008000010, 0xffff800008000020, USER, at["in_leaf"],
                 at["in_middle"], at["in_outer"], at["in_start"]]
        stack, = self.names(self.start() + [self.sample(chain[1], chain, misc=1)])
        self.assertEqual(stack[2:], ["leaf", "middle", "outer", "_start"])
        self.assertEqual(len(stack), 6)

    def test_copied_stacks_are_unwound(self):
        symbols = self.build()
        sample = self.sample(TEXT + symbols["in_leaf"], [], self.copy(symbols, 256))
        self.assertEqual(self.names(self.start() + [sample], SAMPLE_TYPE | COPIES),
                         [["leaf", "middle", "outer", "_start"]])

    def test_copied_stacks_follow_the_kernels_part(self):
        symbols = self.build()
        chain = [KERNEL, 0xffff800008000010]
        sample = self.sample(chain[1], chain, self.copy(symbols, 256), misc=1)
        stack, = self.names(self.start() + [sample], SAMPLE_TYPE | COPIES)
        self.assertEqual(stack[1:], ["leaf", "middle", "outer", "_start"])

    def test_stubs_have_the_caller_that_lr_tells(self):
        symbols = self.build()
        sample = self.sample(TEXT + symbols["in_stub"], [], self.copy(symbols, 256, "in_stub"))
        stack, = self.names(self.start() + [sample], SAMPLE_TYPE | COPIES)
        self.assertEqual(stack[1:], ["middle", "outer", "_start"])

    def test_the_first_stub_pushes_it(self):
        symbols = self.build()
        abi, *registers, size = struct.unpack_from(f"<Q{REGISTERS}QQ", self.copy(symbols, 240))
        words = self.copy(symbols, 240)[8 * (REGISTERS + 2):-8]
        words = struct.pack("<QQ", 0, registers[30]) + words
        registers[30:33] = 0, STACK - 16, TEXT + symbols["in_first_entry"]
        copy = struct.pack(f"<Q{REGISTERS}QQ", abi, *registers, size + 16) + words
        sample = self.sample(registers[32], [], copy + struct.pack("<Q", size + 16))
        stack, = self.names(self.start() + [sample], SAMPLE_TYPE | COPIES)
        self.assertEqual(stack[1:], ["middle", "outer", "_start"])

    def test_callchains_get_the_caller_that_lr_tells(self):
        """leaf() has no frame of its own, so the chain of frame pointers goes on with the caller's caller."""
        symbols = self.build()
        kind, registers = LINK
        at = {name: TEXT + offset for name, offset in symbols.items()}
        lr = struct.pack("<QQ", 2, at["in_middle"])
        for place, expected in (("in_leaf", ["leaf", "middle", "outer", "_start"]),
                                ("in_outer", ["outer", "outer", "_start"])):
            # In outer() it was saved: what the register holds is something that outer() called meanwhile.
            chain = [USER, at[place], at["in_outer"], at["in_start"]]
            stack, = self.names(self.start() + [self.sample(at[place], chain, lr)],
                                SAMPLE_TYPE | kind, registers=registers)
            self.assertEqual(stack, expected)

    def test_what_was_not_copied_is_marked(self):
        symbols = self.build()
        sample = self.sample(TEXT + symbols["in_leaf"], [], self.copy(symbols, 80))
        self.assertEqual(self.names(self.start() + [sample], SAMPLE_TYPE | COPIES),
                         [["leaf", "middle", "outer", "[truncated]"]])

    def test_registers_of_an_unknown_machine_are_no_stack(self):
        symbols = self.build()
        sample = self.sample(TEXT + symbols["in_leaf"], [], self.copy(symbols, 256))
        self.assertEqual(self.names(self.start() + [sample], SAMPLE_TYPE | COPIES, machine="s390x"),
                         [["leaf", "[truncated]"]])

    def test_instructions_are_disassembled_by_capstone(self):
        symbols = self.build()
        chain = [USER, *(TEXT + symbols[name] for name in ("in_leaf", "in_middle", "in_outer", "in_start"))]
        self.names(self.start() + [self.sample(chain[1], chain)])
        done = subprocess.run([rec.REC, "annotate", "--asm", "--json", "outer", "perf.data"], cwd=self.here,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        symbol, = json.loads(done.stdout)["symbols"]
        self.assertEqual(symbol.get("machine"), "aarch64", symbol.get("missing"))
        texts = [item["text"] for item in symbol["instructions"]]
        self.assertEqual(texts[0], "stp x29, x30, [sp, #-0x20]!")
        self.assertRegex(texts[1], r"^bl #0x[0-9a-f]+ <middle>$")
        self.assertEqual([bool(item["total_ns"]) for item in symbol["instructions"]], [False, True, False])

    def test_perf_reads_the_same_file(self):
        """The oracle of the files made here: perf knows callchains of every machine. To it labels within
        functions are functions, too."""
        self.need_program("perf")
        symbols = self.build()
        chain = [USER, TEXT + symbols["in_leaf"], TEXT + symbols["in_middle"]]
        self.names(self.start() + [self.sample(chain[1], chain)])
        done = subprocess.run(["perf", "script", "-i", "perf.data", "-F", "ip,sym"], cwd=self.here,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.split()[1::2], ["in_leaf", "in_middle"], done.stderr)


if __name__ == "__main__":
    rec.main()

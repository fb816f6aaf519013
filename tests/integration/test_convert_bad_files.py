#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Damaged programs and debug info, and what is no file at all where one was: `rec convert` ends in time and
within bounds, names the other modules, and says which file it could not read."""
import os
import resource
import socket
import struct
import subprocess
import threading
import time
import zlib

import bad_elf
import rec
from bad_elf import abbreviation, compressed, uleb, unit

FUNCTION = """
#include <time.h>
long NAME(void);
__attribute__((noinline)) long NAME(void)
{
    long sum = 0;
    struct timespec now;
    do {
        for (volatile long i = 0; i < 10000; i++)
            sum += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_nsec / 1000000 % 200 < 100 == IS_EVEN && now.tv_sec < 1);
    return sum;
}
"""
MAIN = """
#include <time.h>
long in_program(void), in_library(void);
int main(void)
{
    struct timespec now;
    do {
        in_program();
        in_library();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_nsec < 400000000 && now.tv_sec < 1);
    return 0;
}
"""
# The larger one is refused by what it says of itself, the smaller one goes off.
BOMB_BYTES, FUSE_BYTES = 4 << 30, 300 << 20
SLOWEST_S = 60  # for all that a busy machine adds

WAIT_UNTIL_CUT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <elfutils/libdw.h>
#include <sys/stat.h>
Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group)
{
    Dwarf *(*real)(Elf *, Dwarf_Cmd, Elf_Scn *) = dlsym(RTLD_NEXT, "dwarf_begin_elf");
    struct stat status;
    size_t size;
    elf_rawfile(elf, &size);
    while (stat(getenv("TRAP"), &status) == 0 && status.st_size == size)
        ;
    return real(elf, command, group);
}
"""

COMPILE_UNIT, SUBPROGRAM, INLINED, BLOCK, IMPORTED_UNIT = 0x11, 0x2e, 0x1d, 0x0b, 0x3d
SIBLING, NAME, STMT_LIST, LOW_PC, HIGH_PC, IMPORT = 0x01, 0x03, 0x10, 0x11, 0x12, 0x18
ABSTRACT_ORIGIN, SPECIFICATION, RANGES = 0x31, 0x47, 0x55
ADDR, DATA4, DATA8, STRING, REF4, INDIRECT, SEC_OFFSET, REF_ALT = (0x01, 0x06, 0x07, 0x08, 0x13, 0x16,
                                                                  0x17, 0x1f20)
STRP = 0x0e


def deflated(byte, size):
    """size times this byte, as zlib has them, made without having them: one mebibyte is as all others."""
    packer = zlib.compressobj(9)
    first = packer.compress(byte * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    other = packer.compress(byte * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + other * (size // (1 << 20) - 1) + packer.flush()


class Damage:
    """Every method without a leading underscore damages an Elf in one way; self.low … are of in_program."""

    def __init__(self, elf, low, size):
        self.elf, self.low, self.size = elf, low, size
        self.place = struct.pack("<QI", low, size)

    def _debug_info(self, abbreviations, dies, **options):
        self.elf.replace(".debug_abbrev", b"".join(abbreviations) + b"\0")
        self.elf.replace(".debug_info", unit(dies, **options))

    UNIT = abbreviation(1, COMPILE_UNIT, 1, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4))

    def _unit_die(self):
        return uleb(1) + b"unit\0" + self.place

    def _under_unit(self, abbreviations, dies):
        self._debug_info([self.UNIT, *abbreviations], self._unit_die() + dies + b"\0")

    # ---- ELF ----

    def file_is_empty(self):
        self.elf.bytes = bytearray()

    def file_ends_in_its_header(self):
        del self.elf.bytes[40:]

    def file_ends_in_its_debug_info(self):
        del self.elf.bytes[self.elf.field(self.elf.index[".debug_info"], 4) + 20:]

    def section_table_is_out_of_the_file(self):
        struct.pack_into("<Q", self.elf.bytes, 40, 1 << 60)

    def sections_are_counted_in_section_zero(self):
        struct.pack_into("<H", self.elf.bytes, 60, 0)
        struct.pack_into("<Q", self.elf.bytes, self.elf.table + 32, 1 << 60)

    def segments_are_countless(self):
        struct.pack_into("<H", self.elf.bytes, 56, 0xffff)

    def all_sizes_are_2_to_63(self):
        for name in self.elf.index:
            self.elf.set_field(name, 5, 1 << 63)

    def debug_sections_begin_out_of_the_file(self):
        for name in self.elf.index:
            if name.startswith(".debug_"):
                self.elf.set_field(name, 4, (1 << 64) - 16)

    def symbols_have_no_size_and_link_to_themselves(self):
        for name in (".symtab", ".dynsym"):
            self.elf.set_field(name, 6, self.elf.index[name])
            self.elf.set_field(name, 9, 0)

    def symbols_have_names_out_of_the_file(self):
        content = bytearray(self.elf.content(".symtab"))
        for at in range(0, len(content), 24):
            struct.pack_into("<I", content, at, 0xfffffff0)
        self.elf.replace(".symtab", bytes(content))

    def sections_have_no_names(self):
        for name in list(self.elf.index):
            self.elf.set_field(name, 0, 0xffffffff)

    # ---- compression ----

    def zlib_bomb(self):
        self.elf.replace(".debug_info", compressed(1, BOMB_BYTES, deflated(b"\1", BOMB_BYTES)), True)

    def zlib_bomb_of_abbreviations(self):
        self.elf.replace(".debug_abbrev", compressed(1, BOMB_BYTES, deflated(b"\1", BOMB_BYTES)), True)

    def zlib_bomb_that_may_just_be(self):
        self.elf.replace(".debug_info", compressed(1, FUSE_BYTES, deflated(b"\1", FUSE_BYTES)), True)

    def zlib_says_2_to_60(self):
        self.elf.replace(".debug_info", compressed(1, 1 << 60, zlib.compress(bytes(1000))), True)

    def zlib_says_too_little(self):
        self.elf.replace(".debug_info", compressed(1, 16, zlib.compress(bytes(1 << 24))), True)

    def zlib_is_garbage(self):
        self.elf.replace(".debug_info", compressed(1, 4096, b"\x78\x9c" + b"\xff" * 500), True)

    def zstd_bomb(self):
        made = subprocess.run(f"head -c {FUSE_BYTES} /dev/zero | zstd -q -c", shell=True, check=True,
                              capture_output=True)
        self.elf.replace(".debug_info", compressed(2, FUSE_BYTES, made.stdout), True)

    def zstd_is_garbage(self):
        self.elf.replace(".debug_info", compressed(2, 1 << 40, b"\x28\xb5\x2f\xfd" + b"\xff" * 500), True)

    def compressed_header_is_cut(self):
        self.elf.replace(".debug_info", b"\1\0\0", True)

    # ---- DWARF ----

    def units_are_all_ones(self):
        self.elf.replace(".debug_info", b"\xff" * 4096)

    def units_are_all_zero(self):
        self.elf.replace(".debug_info", bytes(1 << 20))

    def a_hundred_thousand_empty_units(self):
        self.elf.replace(".debug_info", unit(b"") * 100000)

    def unit_is_longer_than_the_section(self):
        self._debug_info([self.UNIT], self._unit_die() + b"\0", length=0x7fffffff)

    def leb128_without_end(self):
        self.elf.replace(".debug_info", unit(b"\x80" * 1000000))
        self.elf.replace(".debug_abbrev", b"\x80" * 1000000)

    def leb128_too_large(self):
        huge = b"\xff" * 30 + b"\x7f"
        self.elf.replace(".debug_abbrev", huge * 1000 + b"\0")
        self.elf.replace(".debug_info", unit(huge * 1000))

    def abbreviations_without_end(self):
        self.elf.replace(".debug_abbrev", (uleb(1) + uleb(COMPILE_UNIT) + b"\1" + b"\3\x08" * 1000000))

    def forms_that_lead_to_forms(self):
        """DW_FORM_indirect names DW_FORM_indirect, a million times."""
        self._debug_info([abbreviation(1, COMPILE_UNIT, 1, (NAME, INDIRECT))],
                         uleb(1) + uleb(INDIRECT) * 1000000)

    def unknown_forms(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (NAME, 0x7777))], uleb(2) + b"x" * 100)

    def _function_that_refers(self, attribute, form, value):
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4), (attribute, form))],
                         uleb(2) + self.place + value)

    def _own_offset(self):
        return bad_elf.UNIT_HEADER_BYTES + len(self._unit_die())

    def function_is_its_own_origin(self):
        self._function_that_refers(ABSTRACT_ORIGIN, REF4, struct.pack("<I", self._own_offset()))

    def function_is_its_own_specification(self):
        self._function_that_refers(SPECIFICATION, REF4, struct.pack("<I", self._own_offset()))

    def origins_in_a_circle(self):
        first = self._own_offset()
        die = lambda to: uleb(2) + self.place + struct.pack("<I", to)
        second = first + len(die(0))
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4),
                                       (ABSTRACT_ORIGIN, REF4))], die(second) + die(first))

    def origins_a_million_long(self):
        plain = uleb(3)
        start = self._own_offset() + 17
        chain = b"".join(uleb(3) + struct.pack("<I", start + 5 * (i + 1)) for i in range(1000000))
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4),
                                       (ABSTRACT_ORIGIN, REF4)),
                          abbreviation(3, SUBPROGRAM, 0, (ABSTRACT_ORIGIN, REF4))],
                         uleb(2) + self.place + struct.pack("<I", start) + chain + plain)

    def origin_is_out_of_the_unit(self):
        self._function_that_refers(ABSTRACT_ORIGIN, REF4, struct.pack("<I", 0x7ffffff0))

    def origin_is_in_a_file_that_is_not_there(self):
        self._function_that_refers(ABSTRACT_ORIGIN, REF_ALT, struct.pack("<I", 0x7ffffff0))

    def name_is_out_of_the_strings(self):
        self._function_that_refers(NAME, STRP, struct.pack("<I", 0x7ffffff0))

    def unit_imports_itself(self):
        self._under_unit([abbreviation(2, IMPORTED_UNIT, 0, (IMPORT, REF4))],
                         uleb(2) + struct.pack("<I", bad_elf.UNIT_HEADER_BYTES))

    def unit_imports_itself_again_and_again(self):
        self._under_unit([abbreviation(2, IMPORTED_UNIT, 0, (IMPORT, REF4))],
                         (uleb(2) + struct.pack("<I", bad_elf.UNIT_HEADER_BYTES)) * 50)

    def sibling_is_itself(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 1, (SIBLING, REF4))],
                         uleb(2) + struct.pack("<I", self._own_offset()) + b"\0")

    def blocks_nested_a_million_deep(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 1, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4)),
                          abbreviation(3, BLOCK, 1, (LOW_PC, ADDR), (HIGH_PC, DATA4))],
                         uleb(2) + b"f\0" + self.place + (uleb(3) + self.place) * 1000000)

    def inlined_calls_nested_a_hundred_thousand_deep(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 1, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4)),
                          abbreviation(3, INLINED, 1, (LOW_PC, ADDR), (HIGH_PC, DATA4),
                                       (ABSTRACT_ORIGIN, REF4))],
                         uleb(2) + b"f\0" + self.place
                         + (uleb(3) + self.place + struct.pack("<I", self._own_offset())) * 100000)

    def function_ends_before_it_begins(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA8))],
                         uleb(2) + b"f\0" + struct.pack("<QQ", self.low, (1 << 64) - 1))

    def a_hundred_thousand_functions_in_one_place(self):
        self._under_unit([abbreviation(2, SUBPROGRAM, 0, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4))],
                         (uleb(2) + b"f\0" + self.place) * 100000)

    def ranges_a_million_long(self):
        self._debug_info([abbreviation(1, COMPILE_UNIT, 1, (NAME, STRING), (LOW_PC, ADDR), (RANGES, SEC_OFFSET)),
                          abbreviation(2, SUBPROGRAM, 0, (NAME, STRING), (RANGES, SEC_OFFSET))],
                         uleb(1) + b"unit\0" + struct.pack("<QI", 0, 0)
                         + (uleb(2) + b"f\0" + struct.pack("<I", 0)) * 1000 + b"\0")
        # In a section that has another name otherwise: .debug_loc and the like need not be there.
        self._ranges(struct.pack("<QQ", self.low, self.low + self.size) * 100000)

    def _ranges(self, content):
        if ".debug_ranges" in self.elf.index:
            self.elf.replace(".debug_ranges", content)

    def _line_table(self, content):
        self._debug_info([abbreviation(1, COMPILE_UNIT, 1, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4),
                                       (STMT_LIST, SEC_OFFSET)),
                          abbreviation(2, SUBPROGRAM, 0, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4))],
                         uleb(1) + b"unit\0" + self.place + struct.pack("<I", 0)
                         + uleb(2) + b"in_program\0" + self.place + b"\0")
        self.elf.replace(".debug_line", content)

    def lines_are_all_ones(self):
        self._line_table(b"\xff" * 65536)

    def lines_have_2_to_60_directories(self):
        header = bytes([1, 1, 1, 0xfb, 14, 1]) + b"\1" * 0
        tables = bytes([1]) + uleb(1) + uleb(0x08) + uleb(1 << 60) + b"d\0" * 100
        after = header + tables
        body = struct.pack("<HBBI", 5, 8, 0, len(after)) + after
        self._line_table(struct.pack("<I", len(body)) + body)

    def lines_have_a_format_of_nothing(self):
        """2^60 entries that take no bytes each."""
        header = bytes([1, 1, 1, 0xfb, 14, 1])
        tables = bytes([0]) + uleb(1 << 60) + bytes([0]) + uleb(1 << 60)
        after = header + tables
        body = struct.pack("<HBBI", 5, 8, 0, len(after)) + after
        self._line_table(struct.pack("<I", len(body)) + body)

    def lines_are_five_million(self):
        header = bytes([1, 1, 1, 0xfb, 14, 13]) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0f\0\0\0\0\0"
        program = b"\0\x09\2" + struct.pack("<Q", self.low) + b"\x20" * 5000000 + b"\0\1\1"
        body = struct.pack("<HI", 4, len(header)) + header + program
        self._line_table(struct.pack("<I", len(body)) + body)

    def line_header_is_longer_than_the_table(self):
        body = struct.pack("<HI", 4, 0x7fffffff) + bytes(20)
        self._line_table(struct.pack("<I", len(body)) + body)

    def aranges_are_garbage(self):
        self.elf.replace(".debug_aranges", struct.pack("<IHIBB", 1 << 20, 2, 0x7fffffff, 8, 255) + b"\xff" * 999)


# The file is named in a warning: it cannot be read, or its debug info, or a unit or a line table of it to the end.
SAID = {name for name in vars(Damage) if name.startswith(("file_", "leb128_", "zlib_", "zstd_", "units_"))} | {
    "section_table_is_out_of_the_file", "sections_are_counted_in_section_zero", "all_sizes_are_2_to_63",
    "debug_sections_begin_out_of_the_file", "compressed_header_is_cut", "a_hundred_thousand_empty_units",
    "abbreviations_without_end", "forms_that_lead_to_forms", "unknown_forms", "origins_a_million_long",
    "lines_are_all_ones", "lines_have_2_to_60_directories", "lines_have_a_format_of_nothing",
    "line_header_is_longer_than_the_table"}
# No name can be known.
NAMELESS = {name for name in SAID if name.startswith(("file_", "section_", "sections_", "all_"))}
# The debug info is well-formed, and calls the function "f".
RENAMED = {"blocks_nested_a_million_deep", "inlined_calls_nested_a_hundred_thousand_deep",
           "a_hundred_thousand_functions_in_one_place"}
KINDS = [name for name in vars(Damage) if name[0] != "_" and name.islower()]


class BadFiles(rec.Case):
    def setUp(self):
        super().setUp()
        self.build()
        run = self.run_in(self.directory, [rec.REC, "-q", "-o", "rec.data", "--", "./program"])
        self.assertEqual(run.status, 0, run.stderr)
        with open(self.path("rec.data"), "r+b") as file:
            content = file.read()
            file.seek(0)  # names are stored in it: made unreadable, so that they are looked for
            file.write(content.replace(b"RECNAMES", b"NOTNAMES"))
        os.rename(self.path("program"), self.path("whole"))
        symbols = subprocess.run(["nm", "-S", self.path("whole")], capture_output=True, text=True, check=True)
        low, size = next(line.split()[:2] for line in symbols.stdout.splitlines()
                         if line.endswith(" in_program"))
        self.function = int(low, 16), int(size, 16)

    def path(self, name):
        return os.path.join(self.directory, name)

    def build(self):
        for name, text in (("library.c", FUNCTION.replace("NAME", "in_library").replace("IS_EVEN", "0")),
                           ("program.c", FUNCTION.replace("NAME", "in_program").replace("IS_EVEN", "1") + MAIN)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in ("gcc -gdwarf-4 -O1 -shared -fPIC library.c -o liblibrary.so",
                        "gcc -gdwarf-4 -O1 program.c -o program -L. -llibrary -Wl,-rpath,$PWD"):
            if subprocess.run(command, shell=True, cwd=self.directory, check=False).returncode:
                self.skipTest(f"cannot build: {command}")

    def convert(self, *options, environment=None):
        started = time.monotonic()
        done = subprocess.run([rec.REC, "convert", "rec.data", "-o", "out.folded", *options],
                              cwd=self.directory, capture_output=True, text=True, timeout=2 * SLOWEST_S,
                              env=environment, check=False)
        spent = time.monotonic() - started
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.folded"), encoding="utf-8") as file:
            stacks = file.read()
        self.assertIn("in_library", stacks)
        return done, stacks, spent

    def assert_bounded(self, spent):
        self.assertLess(spent, SLOWEST_S)
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        self.assertLess(largest, max(memory // 2, 2 << 30))

    def hold(self, kind):
        elf = bad_elf.Elf(self.path("whole"))
        getattr(Damage(elf, *self.function), kind)()
        elf.write(self.path("program"))
        done, stacks, spent = self.convert()
        self.assert_bounded(spent)
        says = self.path("program") in done.stderr
        self.assertEqual(says, kind in SAID, done.stderr)
        self.assertEqual("in_program" in stacks, kind not in NAMELESS | RENAMED, stacks)
        self.assertNotIn("(unnamed)", stacks)
        self.assertNotIn("crashed", done.stderr)

    def test_every_damage(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.hold(kind)

    def test_what_is_no_file(self):
        def socket_at(path):
            socket.socket(socket.AF_UNIX).bind(path)
        for kind, make in (("FIFO", os.mkfifo), ("directory", os.mkdir), ("socket", socket_at),
                           ("device", lambda path: os.symlink("/dev/zero", path)),
                           ("link to itself", lambda path: os.symlink(path, path))):
            with self.subTest(kind=kind):
                path = self.path("program")
                make(path)
                done, stacks, spent = self.convert()
                self.assert_bounded(spent)
                self.assertNotIn("in_program", stacks)
                self.assertIn(path, done.stderr)
                (os.rmdir if kind == "directory" else os.unlink)(path)

    def test_a_file_that_is_not_there(self):
        done, stacks, _ = self.convert()
        self.assertNotIn("in_program", stacks)
        self.assertRegex(done.stderr, r"no names for program \([0-9.]+ % of samples, [0-9.]+ % pass through\): file not found")
        self.assertNotIn("library", done.stderr)

    def test_no_file_where_debug_info_is_looked_for(self):
        """The build-id's debug file, and what dwz's link names, are FIFOs."""
        elf = bad_elf.Elf(self.path("whole"))
        build_id = elf.content(".note.gnu.build-id")[16:].hex()
        folder = self.path(f"debug/.build-id/{build_id[:2]}")
        os.makedirs(folder)
        os.mkfifo(os.path.join(folder, build_id[2:] + ".debug"))
        os.mkfifo(self.path("supplement"))
        with open(self.path("link"), "wb") as file:
            file.write(self.path("supplement").encode() + bytes(1) + bytes(20))
        for command in ("strip -g whole -o program",
                        "objcopy --add-section .gnu_debugaltlink=link whole program"):
            with self.subTest(command=command):
                subprocess.run(command, shell=True, cwd=self.directory, check=True)
                _, stacks, spent = self.convert("--debug-dir=debug")
                self.assert_bounded(spent)
                self.assertIn("in_program", stacks)

    def test_a_file_that_shrinks_while_it_is_read(self):
        """Held up where libdw begins, until the file has been cut: what is mapped of it faults then."""
        with open(self.path("trap.c"), "w", encoding="utf-8") as file:
            file.write(WAIT_UNTIL_CUT)
        if subprocess.run("gcc -shared -fPIC trap.c -o trap.so", shell=True, cwd=self.directory,
                          check=False).returncode:
            self.skipTest("cannot build a library against libdw")
        os.rename(self.path("whole"), self.path("program"))
        environment = dict(os.environ, TRAP=self.path("program"), LD_PRELOAD=self.path("trap.so"))
        cut = threading.Timer(2, os.truncate, (self.path("program"), 4096))
        cut.start()
        done, stacks, spent = self.convert(environment=environment)
        cut.join()
        self.assert_bounded(spent)
        self.assertNotIn("in_program", stacks)
        self.assertIn(self.path("program") + ": symbol worker crashed", done.stderr)


if __name__ == "__main__":
    rec.main()

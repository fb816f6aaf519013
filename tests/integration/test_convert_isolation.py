#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Debug information that kills, stops or floods the library that reads it costs the names of its own file.

The library is made to fail from outside: preloaded into `rec convert`, and only for a file that has a section
.trap. Without confined processes rec itself would die, hang or take all memory."""
import os
import subprocess
import tempfile

import rec

PROGRAM = """
__attribute__((noinline)) long in_library(long n);
__attribute__((section(".trap"), used)) static const char trap = 1;
__attribute__((noinline)) long in_program(long n)
{
    long sum = 0;
    for (volatile long i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(void)
{
    for (int i = 0; i < 8; i++)
        if (in_program(15000000) + in_library(15000000) == 1)
            return 1;
    return 0;
}
"""

LIBRARY = """
__attribute__((noinline)) long in_library(long n)
{
    long sum = 0;
    for (volatile long i = 0; i < n; i++)
        sum += i;
    return sum;
}
"""

TRAP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <elfutils/libdw.h>
static int has_trap(Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) &&
            strcmp(elf_strptr(elf, names, header.sh_name), ".trap") == 0)
            return 1;
    return 0;
}
static void spring(Elf *elf)
{
    const char *what = getenv("TRAP");
    if (what && has_trap(elf)) {
        for (volatile long i = 0; strcmp(what, "late") == 0 && i < 300000000; i++)
            ;
        if (strcmp(what, "crash") == 0 || strcmp(what, "late") == 0)
            *(volatile int *)8 = 0;
        if (strcmp(what, "exit") == 0)
            _Exit(0);
        while (strcmp(what, "explode") == 0)
            memset(malloc(1 << 24), 1, 1 << 24);
    }
}
Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group)
{
    Dwarf *(*real)(Elf *, Dwarf_Cmd, Elf_Scn *) = dlsym(RTLD_NEXT, "dwarf_begin_elf");
    spring(elf);
    return real(elf, command, group);
}
int elf_getshdrnum(Elf *elf, size_t *count)
{
    int (*real)(Elf *, size_t *) = dlsym(RTLD_NEXT, "elf_getshdrnum");
    spring(elf);
    return real(elf, count);
}
"""


class Isolation(rec.Case):
    def build(self, folder, flags):
        for name, text in (("program.c", PROGRAM), ("library.c", LIBRARY), ("trap.c", TRAP)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for command in (f"gcc {flags} -O1 -shared -fPIC library.c -o liblibrary.so",
                        f"gcc {flags} -O1 program.c -o program -L. -llibrary -Wl,-rpath,$PWD",
                        "gcc -shared -fPIC trap.c -o trap.so"):
            if subprocess.run(command, shell=True, cwd=folder, check=False).returncode:
                self.skipTest(f"cannot build: {command}")

    def convert(self, folder, trap, *options):
        environment = dict(os.environ, TRAP=trap, LD_PRELOAD=os.path.join(folder, "trap.so"))
        # The limit only makes the explosion a short one.
        command = f"ulimit -v 1000000 && exec {rec.REC} convert {' '.join(options)} -o out.folded"
        done = subprocess.run(command, shell=True, cwd=folder, text=True, capture_output=True, timeout=60,
                              env=environment, check=False)
        with open(os.path.join(folder, "out.folded"), encoding="utf-8") as file:
            return done, file.read()

    def test_each_way_to_fail(self):
        self.check_each_way("-g")

    def test_files_without_debug_info_that_share_a_process(self):
        self.check_each_way("")

    def test_symbols_that_are_read_while_samples_are(self):
        self.check_each_way("", "--no-inline")

    def test_complaints_come_in_the_same_order_whoever_is_first(self):
        with tempfile.TemporaryDirectory() as folder:
            self.record(folder, "-g")
            with open(os.path.join(folder, "library.c"), "a", encoding="utf-8") as file:
                file.write("int another;")
            subprocess.run("gcc -g -O1 -shared -fPIC library.c -o liblibrary.so", shell=True, cwd=folder, check=True)
            done, _ = self.convert(folder, "late")
            self.assertRegex(done.stderr, r"(?s)/program: symbol worker crashed.*/liblibrary.so ")

    def test_few_descriptors_cost_no_names(self):
        """They suffice for a process that reads one library after the other."""
        numbers = range(8)
        with tempfile.TemporaryDirectory() as folder:
            for i in numbers:
                self.compile(folder, f"lib{i}.so", LIBRARY.replace("in_library", f"function_{i}"), "-shared -fPIC")
            calls = "".join(f"long function_{i}(long n);" for i in numbers)
            body = " + ".join(f"function_{i}(20000000)" for i in numbers)
            self.compile(folder, "program", f"{calls} int main(void) {{ return ({body}) == 1; }}",
                         "-L. -Wl,-rpath,$PWD " + " ".join(f"-l{i}" for i in numbers))
            self.record_program(folder)
            subprocess.run(f"ulimit -n 10 && exec {rec.REC} convert -q --no-inline -o out.folded", shell=True,
                           cwd=folder, check=True, timeout=60)
            with open(os.path.join(folder, "out.folded"), encoding="utf-8") as file:
                stacks = file.read()
            for i in numbers:
                self.assertIn(f"function_{i}", stacks)

    def compile(self, folder, output, text, flags):
        with open(os.path.join(folder, "text.c"), "w", encoding="utf-8") as file:
            file.write(text)
        if subprocess.run(f"gcc -O1 text.c -o {output} {flags}", shell=True, cwd=folder, check=False).returncode:
            self.skipTest(f"cannot build {output}")

    def record(self, folder, flags):
        self.build(folder, flags)
        self.record_program(folder)

    def record_program(self, folder):
        subprocess.run([rec.REC, "-q", "-o", "rec.data", "--", "./program"], cwd=folder, check=True, timeout=60)
        path = os.path.join(folder, "rec.data")
        with open(path, "rb") as file:
            content = file.read()
        # Names are stored in it: made unreadable, so that they are looked for.
        with open(path, "wb") as file:
            file.write(content.replace(b"RECNAMES", b"NOTNAMES"))

    def check_each_way(self, flags, *options):
        with tempfile.TemporaryDirectory() as folder:
            self.record(folder, flags)
            done, stacks = self.convert(folder, "nothing", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("in_program", stacks)
            self.assertIn("in_library", stacks)
            for trap, why in (("crash", "crashed"), ("exit", "crashed"), ("explode", "")):
                with self.subTest(trap=trap):
                    done, stacks = self.convert(folder, trap, *options)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotIn("in_program", stacks)
                    self.assertIn("[program]", stacks)
                    self.assertIn("in_library", stacks)
                    self.assertIn("program: symbol worker " + why, done.stderr)


if __name__ == "__main__":
    rec.main()

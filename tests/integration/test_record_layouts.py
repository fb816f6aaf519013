#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""However a linker lays a file out, its functions have their names and shares: several executable segments,
segments whose addresses and offsets differ, huge pages, fixed addresses; in the program
and in a library."""
import os
import subprocess

import rec

LAYOUTS = (
    ("bfd", []),
    ("one segment", ["-Wl,-z,noseparate-code"]),
    ("huge pages", ["-Wl,-z,max-page-size=0x200000", "-Wl,-z,common-page-size=0x200000"]),
    ("fixed address", ["-no-pie", "-fno-pie"]),
    ("fixed high address", ["-no-pie", "-fno-pie", "-Wl,-Ttext-segment=0x7000000"]),
    ("gold", ["-fuse-ld=gold"]),
    ("gold, a section for each function", ["-fuse-ld=gold", "-ffunction-sections"]),
    ("lld", ["-fuse-ld=lld"]),
    ("lld, separate loads", ["-fuse-ld=lld", "-Wl,-z,separate-loadable-segments"]),
    ("lld, one segment", ["-fuse-ld=lld", "-Wl,-z,noseparate-code"]),
    ("lld, high base", ["-fuse-ld=lld", "-no-pie", "-fno-pie", "-Wl,--image-base=0x10000000"]),
)

LIBRARY = """
unsigned long in_library(unsigned long n)
{
    unsigned long value = n;
    for (unsigned long i = 0; i < 20000000; i++) {
        value += value << 7 ^ i;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}
"""

PROGRAM = """
#include <time.h>
unsigned long in_library(unsigned long n);
__attribute__((noinline)) static unsigned long in_program(unsigned long n)
{
    unsigned long value = n;
    for (unsigned long i = 0; i < 20000000; i++) {
        value += value << 7 ^ i;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}
int main(void)
{
    unsigned long sum = 0;
    while (clock() < CLOCKS_PER_SEC / 3)
        sum += in_program(sum) + in_library(sum);
    return sum == 1;
}
"""


class Layouts(rec.Case):
    def build(self, directory, options):
        paths = {name: os.path.join(directory, name) for name in ("lib.c", "lib.so", "main.c", "main")}
        for name, text in (("lib.c", LIBRARY), ("main.c", PROGRAM)):
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        link = [option for option in options if "pie" not in option and "base" not in option
                and "Ttext" not in option]
        for command in (["gcc", "-O2", "-g", "-shared", "-fPIC", *link, paths["lib.c"], "-o", paths["lib.so"]],
                        ["gcc", "-O2", "-g", *options, paths["main.c"], paths["lib.so"], "-o", paths["main"]]):
            if subprocess.run(command, capture_output=True, timeout=60, check=False).returncode:
                return None
        return paths["main"]

    def test_names_and_shares_are_the_same(self):
        tried = 0
        for layout, options in LAYOUTS:
            with self.subTest(layout=layout):
                program = self.build(self.new_directory(), options)
                if not program:
                    continue
                tried += 1
                run = self.recorded(program)
                self.assertAlmostEqual(run.share_of("in_program", self_only=True), 50, delta=15)
                self.assertAlmostEqual(run.share_of("in_library", self_only=True), 50, delta=15)
                self.assertGreater(run.complete_percent(), 99)
        self.assertGreater(tried, 4)


if __name__ == "__main__":
    rec.main()

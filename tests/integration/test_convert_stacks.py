#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files of the installed perf with every kind of call graph: rec's stacks are perf's."""
import os
import shutil
import subprocess

import corpus
import perf_dwarf
import perf_script
import rec
from corpus import CLOCK, SOFTWARE

C_PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile double sum;
void leaf(void) { for (int i = 0; i < 1000; i++) sum += i / (sum + 1); }
void recurse(int n) { if (n) recurse(n - 1); else leaf(); sum += 1; }
void *work(void *unused)
{
    for (int i = 0; i < 20000; i++) recurse(10);
    sum += 1;
    return unused;
}
int main(void)
{
    pthread_t thread;
    fprintf(stderr, "%d\n", getpid());
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
"""
# Debian's own, quick and with deep stacks.
PROGRAMS = [
    ["perl", "-e", "my %h; $h{$_ % 5000} .= chr(65 + $_ % 26) for 1..200000; print length %h"],
    ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x + 1 from c where "
     "x < 200000) select sum(x * x % 7) from c;"],
    ["g++", "-x", "c++", "-O1", "-S", "-o", "/dev/null", "in.cc"],
]
CXX = """#include <map>
#include <string>
int main() { std::map<std::string, int> m; m["a"] = 1; }
"""


class Stacks(corpus.Case):
    def build(self, *options):
        self.need_program("gcc")
        here = self.new_directory()
        with open(f"{here}/program.c", "w", encoding="utf-8") as file:
            file.write(C_PROGRAM)
        subprocess.run(["gcc", "-O0", *options, "-pthread", "program.c", "-o", "program"], cwd=here,
                       check=True, timeout=60)
        return [f"{here}/program"]

    def test_frame_pointers_of_a_program_that_has_them(self):
        path = self.perf_record(*CLOCK, "--call-graph", "fp", program=self.build("-fno-omit-frame-pointer"))
        ours = self.convert(path)
        self.compare(path, minimum=3, ours=ours)
        whole = ["leaf", *["recurse"] * 11, "work"]
        places = [[name for name, *_ in stack] for stacks in perf_script.read_rec(ours).stacks.values()
                  for stack in stacks]
        self.assertTrue(any(names[:len(whole)] == whole for names in places), places)

    @rec.only_where(os.path.exists("/sys/bus/event_source/devices/cpu/caps/branches"))
    def test_branch_records(self):
        """Of processors that have them; tests/unit/perfdata/test_records.c reads made ones."""
        self.compare(self.perf_record("--call-graph", "lbr", program=self.build("-fno-omit-frame-pointer")))

    def compare_dwarf(self, *options, stack_bytes=8192, minimum=20, **how):
        self.compare(self.perf_record(*options, "--call-graph", f"dwarf,{stack_bytes}", **how),
                     minimum=minimum, difference=perf_dwarf.difference)

    def test_copied_stacks(self):
        self.compare_dwarf(*CLOCK)

    def test_copied_stacks_that_are_cut(self):
        self.compare_dwarf(*CLOCK, stack_bytes=1024)

    def test_whole_stacks_of_several_events(self):
        self.compare_dwarf("-F", "499", *SOFTWARE, stack_bytes=65528)

    def test_compressed_copied_stacks(self):
        self.compare_dwarf(*CLOCK, "-z")

    def test_files_below_symfs_tell_how_to_unwind(self):
        """Without frame pointers the program's file has to be read for its callers."""
        program, = self.build("-fomit-frame-pointer", "-Wl,--build-id")
        path = self.perf_record(*CLOCK, "--call-graph", "dwarf", program=[program])
        here = perf_script.read_rec(self.convert(path)).stacks
        root = self.copy_of_files(path)
        shutil.copy("/bin/true", program)
        gone = perf_script.read_rec(self.convert(path)).stacks
        self.assertLess(self.stacks_with(gone, "main"), self.stacks_with(here, "main") / 2)
        self.assertGreater(self.stacks_with(here, "main"), 2)
        below = perf_script.read_rec(self.convert(path, "--symfs", root)).stacks
        self.assertEqual(self.stacks_with(below, "main"), self.stacks_with(here, "main"))

    def stacks_with(self, stacks, function):
        return sum(any(name == function for name, *_ in stack) for of_thread in stacks.values()
                   for stack in of_thread)

    def test_copied_stacks_of_programs_without_debug_info(self):
        here = self.new_directory()
        with open(f"{here}/in.cc", "w", encoding="utf-8") as file:
            file.write(CXX)
        for name, *words in PROGRAMS:
            path = shutil.which(name, path="/usr/bin")
            if path:
                words = [word.replace("in.cc", f"{here}/in.cc") for word in words]
                with self.subTest(program=name):
                    self.compare_dwarf("-F", "499", "-e", "cpu-clock", stack_bytes=16384,
                                       minimum=5, program=[os.path.realpath(path), *words])


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Eight threads do nothing but what is hard to interrupt, 10 000 times a second: they do not crash, do not
hang, and find what they find without rec."""
import os
import subprocess

import harm
import rec

LIBRARIES = 50
LIBRARY = """
#include <stdint.h>
static __thread uint64_t own[8];
__attribute__((noinline)) static uint64_t go_down(uint64_t x, int depth)
{
    own[depth % 8] += x;
    return depth ? go_down(x, depth - 1) : x;
}
uint64_t plugin_number(uint64_t x) { return go_down(x, 3) * NUMBER; }
"""
TURNS = rec.figure(1, 20)
LONGER = rec.figure(1, 30)  # times the rounds of the quick run, which take about a second
# Of storm_threads: before its eight threads' rounds it warms up with eight threads and fifty rounds each.
THREADS, WARM_UP = 8, 50


class Storms(harm.Case):
    def storm(self, name, rounds, *arguments):
        yield from self.same(rec.target(name), rounds * LONGER, *arguments, turns=TURNS)

    def assert_unharmed(self, name, rounds, *arguments):
        for run in self.storm(name, rounds, *arguments):
            self.assertGreater(run.count("samples"), 10)

    def test_allocations(self):
        self.assert_unharmed("storm_malloc", 20000)

    def test_libraries_that_come_and_go(self):
        cc = self.need_program("cc")
        source = os.path.join(self.directory, "library.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(LIBRARY)
        libraries = [os.path.join(self.directory, f"{number}.so") for number in range(1, LIBRARIES + 1)]
        for number, path in enumerate(libraries, 1):
            subprocess.run([cc, "-shared", "-fPIC", "-O2", f"-DNUMBER={number}", source, "-o", path],
                           check=True)
        self.assert_unharmed("storm_dlopen", 2000, *libraries)

    def test_converters_that_come_and_go(self):
        self.assert_unharmed("storm_iconv", 2000)

    def test_exceptions(self):
        self.assert_unharmed("storm_throw", 10000)

    def test_threads_that_come_and_go(self):
        rounds = rec.figure(1000, 12500)
        wanted = 1 + 2 * THREADS + THREADS * (WARM_UP + rounds)
        self.assertTrue(rounds * THREADS >= 100000 or not rec.LONG)
        for run in self.same(rec.target("storm_threads"), rounds, turns=TURNS):
            self.assertEqual(run.stdout.splitlines()[-1],
                             b"1 threads, 0 more descriptors, 0 more timers, as much memory")
            self.assertEqual(run.count("threads"), wanted)
            self.assertLess(run.count("threads_without_slot"), wanted / 100)

    def test_processes_that_come_and_go(self):
        self.assert_unharmed("storm_processes", 100)

    def test_contexts_that_take_turns(self):
        self.assert_unharmed("storm_contexts", 2000)

    def test_jumps_out_of_calls_and_handlers(self):
        self.assert_unharmed("storm_jumps", 10000)


if __name__ == "__main__":
    rec.main()

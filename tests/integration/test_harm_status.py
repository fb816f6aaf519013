#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The status of a command does not depend on whether it can be sampled."""
import os
import subprocess

import harm
import rec

BURN = r"""
#include <time.h>

int main(int argc, char **argv)
{
    while (clock() < CLOCKS_PER_SEC / 5)
        continue;
    return argc > 1 ? argv[1][0] - '0' : 0;
}
"""

GO = """
package main

import (
    "os"
    "time"
)

func main() {
    for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
    }
    os.Exit(len(os.Args) - 1)
}
"""


class Status(harm.Identical):
    def assert_kept(self, command, status):
        turns = rec.figure(3, 100)
        for engine in rec.ENGINES:
            self.need_engine(engine)
            for rate in (49, harm.FAST_HZ):
                runs = [self.under(engine, *command, rate=rate) for _ in range(turns)]
                self.assertEqual([run.status for run in runs], turns * [status], runs[-1].stderr)

    def test_a_static_program(self):
        program = self.build("static", BURN, "-static")
        self.assert_kept([program], 0)
        self.assert_kept([program, "3"], 3)

    def test_a_static_program_with_any_address(self):
        self.assert_kept([self.build("static_pie", BURN, "-static-pie")], 0)

    def test_a_go_program(self):
        go = self.need_program("go")
        path = os.path.join(self.directory, "spin")
        with open(path + ".go", "w", encoding="utf-8") as file:
            file.write(GO)
        environment = dict(os.environ, GO111MODULE="off",
                           GOCACHE=rec.GO_CACHE)
        built = subprocess.run([go, "build", "-o", path, path + ".go"], env=environment,
                               capture_output=True, timeout=200)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assert_kept([path], 0)
        self.assert_kept([path, "x"], 1)

    def test_a_command_that_is_over_soon(self):
        self.assert_kept([rec.target("short_run"), 50], 0)

    def test_a_program_that_blocks_every_signal_by_itself(self):
        self.assert_kept([rec.target("unsampled"), "blocked", 150], 0)


if __name__ == "__main__":
    rec.main()

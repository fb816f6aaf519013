#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In trees of short processes the sum of the weights is the kernel's bill, and each process has its own part of
it: also what it used between its last sample and its end, when its parent was there before rec."""
import os
import resource
import subprocess

import rec

MOST_UNNAMED_PERCENT = 2
UNITS = 40
# The first process of a pid namespace waits for one that works, and nobody waits for it.
FORSAKEN_NAMESPACE = """
import ctypes, os, select, sys
ctypes.CDLL(None).unshare(0x20000000)
init = os.fork()
if init == 0:
    if os.fork() == 0:
        os.execv(sys.argv[1], sys.argv[1:])
    os.wait()
    os._exit(0)
poll = select.poll()
poll.register(os.pidfd_open(init))
poll.poll()
os._exit(0)
"""
# One waits for one that waits for one that works; all are gone before the command is.
DAEMONS = """
export WORK=$0
export INNER='$WORK 200; :' OUTER='sh -c "$INNER"; sleep 0.2; :'
(setsid sh -c 'sh -c "$OUTER"; sleep 0.2; : >ended' >/dev/null 2>&1 &)
while [ ! -e ended ]; do sleep 0.2; done
sleep 0.5
"""
ORPHAN = "($0 0.2 ended &); while [ ! -e ended ]; do sleep 0.1; done; sleep 0.3"
BURNS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int count, char **arguments)
{
    double seconds = atof(arguments[1]);
    while (clock() < seconds * CLOCKS_PER_SEC) continue;
    return count > 2 && !fopen(arguments[2], "w");
}
"""
MAKEFILE = """
all: $(patsubst %,%.o,$(shell seq UNITS))
%.o: %.c
\t@gcc -O1 -c -o $@ $<
"""


def children_cpu_ns():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e9


class Rusage(rec.Case):
    def assert_closed(self, run):
        """Everything was followed, so next to nothing may be in nobody's account, or in two."""
        self.assertNotIn(b"not recorded", run.stderr)
        self.assert_seen(run, 0.02)
        self.assertLess(run.share_of("[not followed]", self_only=True), MOST_UNNAMED_PERCENT)
        self.assertLess(run.share_of("[lost]", self_only=True), MOST_UNNAMED_PERCENT)

    def record_with(self, engine, *command):
        self.need_engine(engine)
        before_ns = children_cpu_ns()
        run = self.recorded(*command, rec_options=[f"--engine={engine}", "-o", "rec.data", "-o", "rec.folded"])
        self.assertLess(run.count("cpu_billed_ns"), children_cpu_ns() - before_ns)
        return run

    def test_daemons_are_billed_once_whoever_of_them_waited(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded("sh", "-c", DAEMONS, rec.target("short_run"), rec_options=[f"--engine={engine}"])
                self.assert_within(run.count("cpu_billed_ns") / run.count("cpu_seen_ns"), 1, 0.1)
                self.assertLess(run.share_of("[not followed]", self_only=True), 5)
                self.assertGreater(run.count("cpu_seen_ns"), 180e6)

    def test_children_that_nobody_waits_for_are_in_the_bill(self):
        """They end with their parent, or their parent ignores SIGCHLD: the kernel adds them to no rusage."""
        for engine in rec.ENGINES:
            for how in ("left", "ignored"):
                with self.subTest(engine=engine, how=how):
                    self.need_engine(engine)
                    run = self.record(rec.target("odd_children"), how, 4, 50, rec_options=[f"--engine={engine}"])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assert_seen(run, 0.03)
                    self.assertGreater(run.count("cpu_billed_ns"), 390e6)

    def test_processes_recorded_from_outside_are_in_the_bill(self):
        """As above without a sampler: no process passes on a rusage."""
        for how in ("left", "ignored"):
            with self.subTest(how=how):
                self.assert_billed(rec.target("odd_children"), how, 4, 50, options=["--engine=perf-ring"], least_ms=390)

    def test_orphans_recorded_from_outside_are_in_the_bill(self):
        static = os.path.join(self.directory, "static")
        subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", static], input=BURNS.encode(), check=True)
        commands = (["timeout", "-s", "KILL", "0.6", static, "30"],     # both are killed at once
                    ["sh", "-c", ORPHAN, static],                       # its parent ends before its exec
                    ["sh", "-c", f"{static} 0.1; {static} 0.1 & wait"])  # no orphan: billed once
        for command, least_ms in zip(commands, (50, 200, 200)):
            with self.subTest(command=command):
                self.assert_billed(*command, least_ms=least_ms)

    def assert_billed(self, *command, options=(), least_ms):
        run = self.record(*command, rec_options=options)
        self.assertGreater(run.count("cpu_billed_ns"), least_ms * 1e6)
        self.assert_seen(run, 0.03)

    def test_children_without_exec_are_named(self):
        """Their pids and CPU time come from the parent's wait."""
        for how in ("vfork", "clone3"):
            with self.subTest(how=how):
                run = self.record(rec.target("odd_children"), how, 3, 20)
                children = [process for process in run.info["processes"] if process["samples"] == 0]
                self.assertEqual([process["name"] for process in children], ["odd_children"] * 3)
                for process in children:
                    self.assert_within(process["cpu_ns"] / 20e6, 1, 0.2)
                self.assertIn("made by vfork() or clone()", run.stderr.decode())
                self.assert_seen(run, 0.02)

    def test_whoever_waits_and_however(self):
        for how in ("wait", "waitpid", "waitid", "wait3", "wait4", "system", "pclose"):
            for engine in rec.ENGINES:
                with self.subTest(how=how, engine=engine):
                    self.assert_closed(self.record_with(engine, rec.target("waiter"), how, "30"))

    def test_a_wait_can_be_cancelled(self):
        self.recorded(rec.target("waiter"), "cancelled", "1")

    def test_what_a_short_program_spends_in_the_kernel_is_not_called_its_end(self):
        """Ten milliseconds of read() each: too few for the kernel's share to be sampled."""
        self.need_program("dd")
        loop = "for i in $(seq 20); do dd if=/dev/zero of=/dev/null bs=1M count=200 2>/dev/null; done"
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.record_with(engine, "sh", "-c", loop)
                self.assert_closed(run)
                self.assertGreater(run.share_of("[between samples]", self_only=True) +
                                   run.share_of("[kernel]", self_only=True), 50)
                self.assertLess(run.share_of("[exit]", self_only=True), 15)

    def test_a_namespace_that_nobody_waits_for_has_its_part(self):
        if os.getuid() != 0:
            self.skipTest("only root can set this up")
        self.need_program("/usr/bin/python3")
        run = self.recorded("/usr/bin/python3", "-c", FORSAKEN_NAMESPACE, rec.target("short_run"), "300")
        self.assertGreater(run.count("cpu_billed_ns"), 300e6)
        self.assert_seen(run, 0.02)

    def test_a_build(self):
        self.need_program("make")
        self.need_program("gcc")
        sources = self.new_directory()
        for unit in range(1, UNITS + 1):
            with open(os.path.join(sources, f"{unit}.c"), "w", encoding="ascii") as file:
                file.write(f"#include <stdio.h>\nint unit_{unit}(int a) {{ return printf(\"%d\", a); }}\n")
        with open(os.path.join(sources, "Makefile"), "w", encoding="ascii") as file:
            file.write(MAKEFILE.replace("UNITS", str(UNITS)))
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.record_with(engine, "make", "-s", "-B", "-j2", "-C", sources)
                self.assertGreaterEqual(run.count("processes"), 3 * UNITS)
                self.assert_closed(run)


if __name__ == "__main__":
    rec.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every process that a command starts is in the profile, however it was started, and none is hurt."""
import os
import subprocess

import rec

WORK_MS = 250


class Followed(rec.Case):
    def assert_followed(self, run, name, share=80):
        """A process of that name has nearly all of its 250 ms, in samples of its function."""
        cpu_ns = sum(process["cpu_ns"] for process in run.info["processes"]
                     if process["name"] == name)
        self.assert_within(cpu_ns / 1e6, WORK_MS, WORK_MS / 10, f"milliseconds of {name}")
        self.assertGreater(run.share_of("burn_until_ns"), share)

    def each_engine(self, *command):
        for engine in rec.ENGINES:
            with self.subTest(command=command, engine=engine):
                self.need_engine(engine)
                yield self.recorded(*command, rec_options=[f"--engine={engine}"])

    def test_every_way_to_start_a_program(self):
        program = [rec.target("short_run"), WORK_MS]
        for how in ("fork-exec", "vfork-exec", "posix_spawn", "clone-exec", "exec"):
            for run in self.each_engine(rec.target("processes"), how, "0", *program):
                self.assert_followed(run, "short_run")

    def test_a_forked_child_that_runs_on(self):
        for run in self.each_engine(rec.target("processes"), "fork", WORK_MS):
            self.assertGreater(run.share_of("work_of_a_forked_child"), 80)

    def test_forked_children_know_what_their_parent_loaded_and_unloaded_last(self):
        """Of 0.7 s each of the two has 0.3."""
        plugins = [rec.target("lib_plugin_a.so"), rec.target("lib_plugin_b.so")]
        for run in self.each_engine(rec.target("plugin_children"), *plugins):
            for name in ("work_of_plugin_a", "work_of_plugin_b"):
                self.assert_within(run.share_of(name), 41, 6, name)

    def test_exec_by_a_shell(self):
        program = f"{rec.target('short_run')} {WORK_MS}"
        for script in (f"exec {program}", f"{program}; true", f"({program}); true", f"{program} | cat"):
            for run in self.each_engine("sh", "-c", script):
                self.assert_followed(run, "short_run", 60)

    def test_a_script_with_an_interpreter_line(self):
        path = os.path.join(self.directory, "script")
        for first_line in ("#!/bin/sh\n", ""):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"{first_line}{rec.target('short_run')} {WORK_MS}\nexit 3\n")
            os.chmod(path, 0o755)
            run = self.record(path)
            self.assertEqual(run.status, 3, run.stderr)
            self.assert_followed(run, "short_run", 60)

    def test_processes_of_python(self):
        script = ("import subprocess, multiprocessing, sys\n"
                  f"subprocess.run(['{rec.target('short_run')}', '{WORK_MS}'], check=True)\n")
        run = self.recorded("/usr/bin/python3", "-c", script)
        self.assert_followed(run, "short_run", 40)


class Unharmed(rec.Case):
    def test_100_recordings_of_true_at_10_khz_all_succeed(self):
        script = ("failed=0; for i in $(seq 100); do \"$REC\" -q -F 9999 -o x.data -- /bin/true || "
                  "failed=$((failed+1)); done; echo $failed")
        done = subprocess.run(["bash", "-c", script], cwd=self.directory, stdout=subprocess.PIPE,
                              timeout=100, check=True)
        self.assertEqual(done.stdout, b"0\n")


if __name__ == "__main__":
    rec.main()

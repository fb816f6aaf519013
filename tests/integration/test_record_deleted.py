#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs and libraries that are deleted, replaced or written over while they run keep their names; one that
was replaced after the recording is reported, and its names are never used."""
import os
import shutil
import subprocess

import rec

HOT = ("hot_70", "hot_20", "hot_10")


class Deleted(rec.Case):
    def copied(self, name, as_name=None):
        path = os.path.join(self.directory, as_name or name)
        shutil.copy(rec.target(name), path)
        return path

    def assert_named(self, run, *names):
        for name in names:
            self.assertGreater(run.share_of(name), 5, run.stderr.decode())

    def test_a_program_that_is_deleted_while_it_runs(self):
        program = self.copied("shares")
        run = self.recorded("sh", "-c", '"$0" 600 & sleep 0.3; rm "$0"; wait', program)
        self.assert_named(run, *HOT)

    def test_a_program_that_is_replaced_while_it_runs(self):
        program, other = self.copied("shares"), self.copied("depth", "other")
        run = self.recorded("sh", "-c", '"$0" 600 & sleep 0.3; mv "$1" "$0"; wait', program, other)
        self.assert_named(run, *HOT)

    def test_a_program_that_ran_and_was_deleted_before_the_end(self):
        program = self.copied("shares")
        run = self.recorded("sh", "-c", '"$0" 300; rm "$0"; sleep 0.2', program)
        self.assert_named(run, *HOT)

    def test_what_deletes_itself_at_once(self):
        program, plugin = self.copied("vanishes"), self.copied("lib_plugin_a.so")
        run = self.recorded(program, "600", plugin)
        self.assert_named(run, "work_of_vanished_program")
        if os.geteuid() == 0:
            self.assert_named(run, "work_of_plugin_a")
        else:  # may not open what is mapped and gone
            self.assertRegex(run.stderr.decode(), "no names for lib_plugin_a.so .*: file not found")
        # The names are kept in the capture.
        done = subprocess.run([rec.REC, "report", run.path()], capture_output=True, text=True,
                              timeout=60)
        self.assertIn("burn_rounds", done.stdout)

    def test_a_stripped_program_is_called_by_its_name(self):
        program = self.copied("shares")
        subprocess.run([self.need_program("strip"), program], check=True)
        run = self.recorded("sh", "-c", '"$0" 300; rm "$0"; sleep 0.2', program)
        placed = sum(weight for stack, weight in run.stacks().items() if "shares+0x" in stack[-1])
        self.assertGreater(placed, sum(run.stacks().values()) / 2)

    def test_a_file_system_with_programs_can_be_unmounted(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("mounting takes root and unshare")
        program = self.copied("shares")
        script = ('mount -t tmpfs none "$1" && cp "$0" "$1/program" && "$1/program" 200 && '
                  'umount "$1"')
        place = os.path.join(self.directory, "place")
        os.mkdir(place)
        run = self.record("sh", "-c", script, program, place)
        subprocess.run(["umount", place], capture_output=True)
        self.assertEqual(run.status, 0, run.stderr.decode())

    def convert(self, run):
        bare = run.path("bare.data")  # a capture without names
        return subprocess.run([rec.REC, "convert", bare, "-o", run.path("again.folded")],
                              capture_output=True, text=True, timeout=60)

    def test_a_library_that_was_replaced_after_the_recording(self):
        program = self.need_program("perf")
        plugins = [self.copied("lib_plugin_a.so", "first.so"), self.copied("lib_plugin_b.so", "second.so")]
        directory = self.new_directory()
        run = self.run_in(directory, [program, "record", "-e", "cpu-clock:u", "-g", "-o", "bare.data",
                                      rec.target("plugins"), "300", *plugins])
        if run.status:
            self.skipTest("perf may not record here")
        shutil.copy(plugins[1], plugins[0])
        done = self.convert(run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{plugins[0]} is not the file that was recorded", done.stderr)
        self.assertNotIn(f"{plugins[1]} is not", done.stderr)
        with open(run.path("again.folded"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("work_of_plugin_b", text)
        self.assertNotIn("work_of_plugin_a", text)


if __name__ == "__main__":
    rec.main()

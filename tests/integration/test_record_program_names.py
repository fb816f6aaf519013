#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program has the name that it was executed by, and is the first mapping of pprof's file also without samples."""
import gzip
import json
import os
import shutil
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests/clients"))
import decoders  # noqa: E402


class ProgramNames(rec.Case):
    def recorded_at(self, *command):
        """(modules of Firefox's file, first mapping of pprof's)."""
        directory = self.new_directory()
        shutil.copy(rec.target("shares"), f"{directory}/file")
        os.symlink("file", f"{directory}/link")
        os.symlink("file", f"{directory}/other")
        done = subprocess.run([rec.REC, "--", *command], cwd=directory, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with gzip.open(f"{directory}/rec.json.gz") as file:
            modules = {module["name"] for module in json.load(file)["libs"]}
        report = subprocess.run([rec.REC, "report", "--by", "module", "--json"], cwd=directory, check=True,
                                capture_output=True)
        shown = {row["name"].rsplit("/", 1)[-1] for row in json.loads(report.stdout)["modules"]}
        self.assertLessEqual(shown & {"file", "link", "other"}, modules)
        profile = decoders.Pprof(f"{directory}/rec.pb.gz")
        mapping = profile.mappings[1]
        first = profile.text(mapping[5][0])
        if os.path.isabs(first):
            self.assertTrue(os.path.samefile(first, f"{directory}/file"), first)
        return modules, first

    def test_a_link_gives_its_name(self):
        modules, first = self.recorded_at("./link", "100")
        self.assertIn("link", modules)
        self.assertNotIn("file", modules)
        self.assertEqual(os.path.basename(first), "link")

    def test_a_file_has_its_own_name(self):
        modules, first = self.recorded_at("./file", "100")
        self.assertIn("file", modules)
        self.assertEqual(os.path.basename(first), "file")

    def test_a_file_executed_by_several_names_has_its_own(self):
        modules, _ = self.recorded_at("sh", "-c", "./link 100; ./other 100")
        self.assertIn("file", modules)
        self.assertFalse(modules & {"link", "other"}, modules)

    def test_the_recorded_program_is_first_without_samples(self):
        _, first = self.recorded_at("sh", "-c", "./file 100 & ./link 100 & wait")
        self.assertEqual(os.path.basename(first), "sh")

    def test_a_script_is_first_by_its_name(self):
        directory = self.new_directory()
        with open(f"{directory}/script.sh", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n./file 100\n")
        os.chmod(f"{directory}/script.sh", 0o755)
        _, first = self.recorded_at(f"{directory}/script.sh")
        self.assertEqual(first, "script.sh")


if __name__ == "__main__":
    rec.main()

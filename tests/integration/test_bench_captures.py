#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every capture of the benches converts within the default limits: nothing is left out, and no message names a limit."""
import os
import pathlib
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests" / "bench"))
from subjects import COPIED, SUBJECTS  # noqa: E402

MAKE_RECORDING = rec.TARGETS.parent / "bench" / "make_recording"
COMMANDS = (("convert", "-o", "out.pb.gz"), ("convert", "-o", "out.json.gz"), ("convert", "-o", "out.folded"), ("report",))
RATES, SECONDS = (999, 9999), (1, 5)
SAMPLES = (1000000, 3000000, 10000000)
TIMEOUT_S = 600


class BenchCaptures(rec.Case):
    def assert_converts(self, capture):
        for words in COMMANDS:
            with self.subTest(capture=os.path.basename(capture), words=words):
                run = self.bare(rec.REC, *words, "-i", capture, timeout=TIMEOUT_S)
                self.assertEqual(run.status, 0, run.stderr)
                self.assertNotRegex(run.stderr + run.stdout, rb"raise the limit|memory-limit|left out|too many")
        os.unlink(capture)

    def perf_record(self, *words, directory):
        self.need_program("perf")
        subprocess.run(["perf", "record", "-q", "--call-graph", "dwarf", "-o", "perf.data", *words], check=True,
                       cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return os.path.join(directory, "perf.data")

    def test_captures_of_programs(self):
        for subject in SUBJECTS:
            self.need_program(subject.needs)
            directory = self.new_directory()
            command = subject.command(pathlib.Path(directory))
            run = self.run_in(directory, [rec.REC, "-q", "-o", "x.data", "--", *command], timeout=TIMEOUT_S)
            self.assertEqual(run.status, 0, run.stderr)
            self.assert_converts(run.path("x.data"))
            self.assert_converts(self.perf_record("-F", "999", *command, directory=directory))

    def test_captures_with_copies_of_stacks(self):
        for subject in COPIED:
            self.need_program(subject.needs)
            for rate in RATES:
                for seconds in SECONDS:
                    directory = self.new_directory()
                    command = subject.command(pathlib.Path(directory), seconds)
                    self.assert_converts(self.perf_record("-e", "cpu-clock:u", "-F", str(rate), *command, directory=directory))

    def test_generated_captures_of_100_000_stacks(self):
        for samples in SAMPLES:
            capture = os.path.join(self.directory, f"{samples}.data")
            subprocess.run([MAKE_RECORDING, capture, os.path.realpath(rec.REC), str(samples)], check=True)
            self.assert_converts(capture)


if __name__ == "__main__":
    rec.main()

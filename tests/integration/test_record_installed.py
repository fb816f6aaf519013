#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wherever rec is installed, programs get the sampler without a word from the dynamic linker, or rec refuses."""
import glob
import os
import shutil

import rec

WORK_MS = 100
# One copy of a build may be in a place of its user: it stays.
PLACES = ("/tmp/rec-sampler*", "/dev/shm/rec-sampler*")


def leftovers():
    return sorted(path for place in PLACES for path in glob.glob(place))


class Installed(rec.Case):
    def install(self, name):
        """A copy of rec and its sampler in a directory of that name."""
        place = os.path.join(self.directory, name)
        os.mkdir(place)
        for file in (rec.REC, os.path.join(os.path.dirname(rec.REC), "librec-sampler.so")):
            shutil.copy(file, place)
        return place

    def record_from(self, place, *command, prefix=(), rec_options=("-q",)):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        return self.run_in(directory, [*prefix, os.path.join(place, "rec"), *rec_options, "--",
                                       *command])

    def test_what_the_loader_reads_otherwise_in_the_path(self):
        before = leftovers()
        for name in ("a b", "a:b", ":a b: ", "a$LIB"):
            place = self.install(name)
            run = self.record_from(place, "bash", "-c", f"{rec.target('short_run')} {WORK_MS}; true")
            self.assertEqual((run.status, run.stderr), (0, b""))
            self.assertGreater(run.share_of("burn_until_ns"), 50)
        self.assertEqual(leftovers(), before)

    def test_the_copy_is_there_after_the_recording(self):
        before = leftovers()
        place = self.install("a b")
        script = f"{rec.target('short_run')} 900; {rec.target('short_run')} 10; exit 4"
        run = self.record_from(place, "sh", "-c", script,
                               rec_options=["-q", "--duration", "100ms"])
        self.assertEqual((run.status, run.stderr), (4, b""))
        self.assertEqual(leftovers(), before)

    def test_a_place_that_is_closed_to_the_user_that_the_program_becomes(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, to become somebody else")
        os.chmod(self.directory, 0o755)
        program = shutil.copy(rec.target("short_run"), self.directory)
        place = self.install("closed")
        os.chmod(place, 0o700)
        run = self.record_from(place, "setpriv", "--reuid=65534", "--clear-groups", program,
                               str(WORK_MS))
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertGreater(run.share_of("burn_until_ns"), 50)

    def test_what_other_users_may_write_is_refused(self):
        for change in ("place", "librec-sampler.so"):
            place = self.install(f"open-{change}")
            os.chmod(place if change == "place" else os.path.join(place, change), 0o777)
            run = self.record_from(place, "touch", "started")
            self.assertEqual(run.status, 125)
            self.assertEqual(run.stderr.count(b"\n"), 1)
            self.assertIn(b"other users may write", run.stderr)
            self.assertFalse(os.path.exists(run.path("started")))

    def test_what_belongs_to_somebody_else_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to give files away")
        place = self.install("given")
        os.chown(os.path.join(place, "librec-sampler.so"), 12345, 12345)
        run = self.record_from(place, "true")
        self.assertEqual(run.status, 125)
        self.assertIn(b"belongs neither", run.stderr)


if __name__ == "__main__":
    rec.main()

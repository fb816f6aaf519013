#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The build of a real C project is the same under rec, is one profile, and takes no longer than it may.

The project is zlib as Debian has it; where its source cannot be had (no network, not Debian) or in the quick set, a
part of rec's own."""
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

import harm
import rec

PAIRS = 7
MOST_RATIO = 1.05
ZLIB = "cp -r \"$0\" z && cd z && ./configure && make -s -j2 && rm configure.log"  # which has the date
OWN = """mkdir o && cd "$0" && for c in src/base/*.c src/base/*/*.c src/elf/*.c; do
echo "$OLDPWD/o/$(basename $c .c).o:; gcc -O1 -D_GNU_SOURCE -Isrc -c -o \\$@ $c"
done > "$OLDPWD/Makefile" && make -s -j2 -f "$OLDPWD/Makefile" $(sed 's/:;.*//' "$OLDPWD/Makefile")"""


def copy_apt_sources(directory):
    """Where this machine has its packages from, sources of packages included."""
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
        if not path.endswith((".list", ".sources")) or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.M)
        text = re.sub(r"^deb ", "deb-src ", text, flags=re.M)
        with open(os.path.join(directory, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(text)


def fetch_zlib(directory):
    """The folder of zlib's source, by apt with settings of its own; None when it cannot be had."""
    os.makedirs(os.path.join(directory, "lists", "partial"))
    os.mkdir(os.path.join(directory, "sources"))
    copy_apt_sources(os.path.join(directory, "sources"))
    apt = ["apt-get", "-q", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={directory}/sources",
           "-o", f"Dir::State::Lists={directory}/lists", "-o", f"Dir::Cache={directory}", "-o",
           "APT::Sandbox::User=root"]
    try:
        for arguments in (["update"], ["source", "--download-only", "zlib"]):
            subprocess.run(apt + arguments, cwd=directory, check=True, capture_output=True, timeout=200)
        archive = glob.glob(f"{directory}/zlib_*.orig.tar.*")[0]
        subprocess.run(["tar", "-xf", archive], cwd=directory, check=True, timeout=100)
    except (OSError, subprocess.SubprocessError, IndexError):
        return None
    return next(path for path in glob.glob(f"{directory}/zlib-*") if os.path.isdir(path))


class Build(harm.Identical):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="rec-test-source-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        zlib = fetch_zlib(cls.place) if rec.LONG else None
        cls.command = ["sh", "-ec", ZLIB, zlib] if zlib else ["sh", "-ec", OWN, str(rec.SOURCE)]
        cls.processes = 250 if zlib else 60

    def setUp(self):
        super().setUp()
        self.need_program("make")
        self.need_program("gcc")

    def test_what_it_builds_and_says(self):
        self.identical(*self.command, differs=(rb"/tmp/rec-test-\w+",))

    def test_the_sum_is_the_bill(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                run = self.recorded(*self.command, rec_options=[f"--engine={engine}", "-o", "rec.data", "-o",
                                                                "rec.folded"], timeout=300)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                seen_s = run.count("cpu_seen_ns") / 1e9
                self.assertGreaterEqual(run.count("processes"), self.processes)
                self.assert_within(seen_s / (run.count("cpu_billed_ns") / 1e9), 1, 0.02)
                self.assertLess(seen_s, used_s)
                self.assertLess(run.share_of("[not followed]", self_only=True), 2)

    def seconds(self, *prefix):
        directory = self.new_directory()
        start_s = time.monotonic()
        self.watched([*prefix, *self.command], directory)
        took_s = time.monotonic() - start_s
        shutil.rmtree(directory)
        return took_s

    @rec.only_long
    def test_it_takes_no_longer_than_it_may(self):
        if os.getloadavg()[0] > 1:
            self.skipTest("the machine has something else to do")
        ratios = []
        for i in range(PAIRS):
            runs = [[rec.REC, "-q", "-F", "999", "-o", self.profile, "--"], []]
            seconds = [self.seconds(*run) for run in (runs if i % 2 else runs[::-1])]
            ratios.append(seconds[0] / seconds[1] if i % 2 else seconds[1] / seconds[0])
        print("recorded / bare:", *(f"{ratio:.3f}" for ratio in ratios))
        self.assertLess(statistics.median(ratios), MOST_RATIO)


if __name__ == "__main__":
    rec.main()

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The text that rec writes in perf's stead is what `perf script` prints of the same file: thread, time, weight and
the functions of every stack, inlined ones aside, which perf does not know."""
import os
import re
import shutil
import subprocess

import rec

HEAD = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s+(?:\[\d+\]\s+)?([\d.]+):\s+(\d+) (\S+): *$")
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*?)(\+0x[0-9a-f]+)? \((.*)\)$")


def bare(name):
    """Without arguments, versions and aliases, in which demanglers and symbol tables differ."""
    return re.sub(r"\(.*|@.*|_impl$", "", name).strip("_")


def samples(text):
    """[(head, [name])], innermost first; inlined frames left out."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line]
        if not lines:
            continue
        head = HEAD.match(lines[0])
        assert head, lines[0]
        frames = [FRAME.match(line) for line in lines[1:]]
        assert all(frames), lines
        found.append((head.groups()[:5],
                      [bare(frame[2]) for frame in frames if frame[4] != "inlined"]))
    return found


class PerfText(rec.Case):
    def test_it_is_what_perf_script_prints(self):
        if not shutil.which("perf"):
            self.skipTest("perf is missing: install linux-perf")
        run = self.recorded(rec.target("inlined"), "400")
        subprocess.run([rec.REC, "convert", "-q", "-o", "ours.perf.txt"], cwd=run.directory, check=True,
                       timeout=60)
        with open(os.path.join(run.directory, "ours.perf.txt"), encoding="utf-8") as file:
            ours = samples(file.read())
        done = subprocess.run(["perf", "script", "-i", "rec.data", "--no-inline", "-F",
                               "comm,pid,tid,time,period,event,ip,sym,symoff,dso"], cwd=run.directory,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            self.skipTest(f"perf script fails: {done.stderr.strip()}")
        theirs = samples(done.stdout)
        self.assertEqual([head for head, _ in ours], [head for head, _ in theirs])
        compared = equal = 0
        for (_, mine), (_, other) in zip(ours, theirs):
            self.assertEqual(len(mine), len(other), (mine, other))
            for left, right in zip(mine, other):
                if right != "[unknown]":
                    compared += 1
                    equal += left == right
        self.assertGreater(compared, 500)
        self.assertGreater(equal / compared, 0.98)


if __name__ == "__main__":
    rec.main()

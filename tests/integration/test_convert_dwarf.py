#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""perf record --call-graph dwarf: depths known beforehand, and real programs against perf script's own
unwinding of the same file."""
import collections
import os
import re
import resource
import shutil
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests/clients"))
import decoders  # noqa: E402

ROOTS = {"_start", "__clone3", "clone3", "__clone", "clone", "__libc_start_call_main",
         "__libc_start_main", "start_thread"}
PYTHON = "import json; x = [str(i) for i in range(200000)]; json.loads(json.dumps(x)); x.sort()"
SQL = ("with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) "
       "select sum(x * x % 7) from c;")
PERL = "my %h; $h{$_ % 5000} .= chr(65 + $_ % 26) for 1..300000; print length join ',', sort values %h"
CXX = """#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>
static std::size_t work(int seed) {
  std::map<std::string, int> m;
  for (int i = 0; i < 150000; i++) m[std::to_string((i * 7919 + seed) % 10007)]++;
  std::vector<std::string> v;
  for (auto &p : m) v.push_back(p.first);
  std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a > b; });
  return v.size();
}
int main() {
  std::vector<std::thread> t;
  for (int i = 0; i < 3; i++) t.emplace_back([i] { work(i); });
  for (auto &x : t) x.join();
}
"""


class Dwarf(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program("perf")
        self.here = self.new_directory()

    def record(self, *command, stack_bytes=8192):
        done = subprocess.run(["perf", "record", "-q", "-F", "1499", "-e", "cpu-clock:u", "-o",
                               "perf.data", "--call-graph", f"dwarf,{stack_bytes}", "--", *command],
                              cwd=self.here, capture_output=True, timeout=60)
        if done.returncode or not os.path.exists(f"{self.here}/perf.data"):
            self.skipTest(f"perf record fails here: {done.stderr.decode(errors='replace')}")

    def short_copies(self, stack_bytes):
        """The kernel copies up to the first page without memory, as while a page is moved."""
        text, _ = self.timed("perf", "script", "-D", "-i", "perf.data")
        return sum(int(size) < stack_bytes for size in re.findall(r"ustack: size (\d+)", text))

    def timed(self, *words):
        """Standard output, and the CPU time that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=self.here, capture_output=True, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 0, done.stderr)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout.decode(errors="replace"), seconds

    def least(self, *words):
        """With cold caches, a run of 2 ms takes 12 ms at times."""
        return min((self.timed(*words) for _ in range(3)), key=lambda run: run[1])

    def stacks(self):
        text, _ = self.timed(rec.REC, "convert", "perf.data", "-o", "-", "--format", "collapsed")
        counts = collections.Counter()
        for line in text.splitlines():
            stack, count = line.rsplit(" ", 1)
            counts[tuple(stack.split(";")[1:])] += int(count)
        return counts

    def complete_percent_of_perf(self, program):
        """What perf script ends at a root, or in code of the program's own that has no name."""
        text, _ = self.timed("perf", "script", "--no-inline", "--max-stack", "4096", "-F",
                             "ip,sym,dso", "-i", "perf.data")
        last = [block.splitlines()[-1] for block in text.split("\n\n") if block.strip()]
        ends = [re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line) for line in last]
        good = [end for end in ends if end and (
            end[1].split("+")[0].split("@")[0] in ROOTS
            or (end[1] == "[unknown]" and os.path.basename(end[2]) == os.path.basename(program)))]
        return 100 * len(good) / len(ends)

    def depths(self):
        """(tid, frames) of every sample, calls not inlined."""
        self.timed(rec.REC, "convert", "-q", "perf.data", "-o", "depths.pb")
        profile = decoders.Pprof(f"{self.here}/depths.pb")
        depths = collections.Counter()
        for sample in map(decoders.message, profile.root.get(2, [])):
            labels = {profile.text(decoders.one(label, 1)): decoders.one(label, 3)
                      for label in map(decoders.message, sample.get(3, []))}
            frames = [profile.frames(location)[0][0] for run in sample.get(1, [])
                      for location in decoders.packed(run)]
            count = decoders.packed(sample[2][0])[0]
            depths[labels["tid"], len(frames) - frames.count("[truncated]")] += count
        return depths

    def depths_of_perf(self):
        """The same; where the copied bytes end perf adds a frame at address -1."""
        text, _ = self.timed("perf", "script", "--no-inline", "--max-stack", "9999", "-F", "tid,ip",
                             "-i", "perf.data")
        depths = collections.Counter()
        for block in text.split("\n\n"):
            words = block.split()
            if words:
                frames = [word for word in words[1:] if word != "ffffffffffffffff"]
                depths[int(words[0].rstrip(":")), len(frames)] += 1
        return depths

    def test_planted_depths_are_exact(self):
        for depth in (5, 50, 500):
            with self.subTest(depth=depth):
                self.record(rec.target("depth"), str(depth), "200", stack_bytes=32768)
                stacks = self.stacks()
                leafs = {stack: count for stack, count in stacks.items() if "leaf" in stack}
                self.assertGreater(sum(leafs.values()), 100)
                for stack in leafs:
                    self.assertEqual(stack.count("recurse"), depth)
                    self.assertNotIn("[truncated]", stack)

    def test_frames_beyond_the_copied_bytes_are_marked(self):
        self.record(rec.target("depth"), "500", "200", stack_bytes=4096)
        stacks = self.stacks()
        leafs = {stack: count for stack, count in stacks.items() if "leaf" in stack}
        self.assertGreater(sum(leafs.values()), 100)
        short = 0
        for stack, count in leafs.items():
            self.assertEqual(stack[0], "[truncated]")
            self.assertLess(stack.count("recurse"), 500)
            short += count if stack.count("recurse") <= 20 else 0
        if short:
            self.assertLessEqual(short, self.short_copies(4096))

    def programs(self):
        with open(f"{self.here}/t.cc", "w", encoding="utf-8") as file:
            file.write(CXX)
        with open(f"{self.here}/in.bin", "wb") as file:
            file.write(os.urandom(200000) * 8)
        found = {"python3": ["-c", PYTHON], "sqlite3": [":memory:", SQL], "perl": ["-e", PERL],
                 "xz": ["-k", "-c", "-1", "in.bin"]}
        # Debian's own: what else is in the PATH may be a script that starts several programs.
        paths = {name: shutil.which(name, path="/usr/bin") for name in found}
        commands = [[os.path.realpath(paths[name]), *words]
                    for name, words in found.items() if paths[name]]
        if shutil.which("g++"):
            subprocess.run(["g++", "-O2", "-pthread", "t.cc", "-o", "threads"], cwd=self.here,
                           check=True)
            subprocess.run(["g++", "-E", "t.cc", "-o", "t.ii"], cwd=self.here, check=True)
            compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True,
                                      text=True, check=True).stdout.strip()
            commands += [["./threads"], [compiler, "-quiet", "-O1", "t.ii", "-o", "t.s"]]
        return commands

    def test_real_programs_are_no_less_complete_than_by_perf(self):
        for command in self.programs():
            with self.subTest(program=command[0]):
                self.record(*command, stack_bytes=32768)
                stacks = self.stacks()
                total = sum(stacks.values())
                cut = sum(n for stack, n in stacks.items() if "[truncated]" in stack)
                self.assertGreater(total, 20)
                self.assertGreaterEqual(100 * (total - cut) / total,
                                        self.complete_percent_of_perf(command[0]))
                pairs = list(zip(sorted(self.depths().elements()),
                                 sorted(self.depths_of_perf().elements())))
                shallower = sum(ours < theirs for ours, theirs in pairs)
                self.assertLessEqual(100 * shallower / len(pairs), 2, "stacks as deep as perf's")
                notes, loading_s = self.least(rec.REC, "info", "perf.data")
                _, perf_s = self.least("perf", "script", "--no-inline", "-i", "perf.data")
                self.assertLess(loading_s, perf_s, "CPU time to unwind")
                lost = re.search(r"unwound\.lost\s+(\d+)", notes)
                self.assertLessEqual(int(lost[1]) if lost else 0, max(1, total // 500),
                                     "stacks that end although they were copied in full")


if __name__ == "__main__":
    rec.main()

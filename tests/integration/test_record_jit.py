#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code that programs make at run time has the names that their runtimes give it: by perf map and by jitdump, a
target's and node's; and code without names is one function for each mapping."""
import glob
import gzip
import json
import os
import re
import shutil
import subprocess

import rec

SCRIPT = """
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i ^ n); return s; }
function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += inner(n + i); return s; }
function whole() { let t = 0; while (process.cpuUsage().user < 1200000) t += outer(2000); return t; }
whole();
"""

ERLANG = """-module(deep).
-export([main/0]).
spin(0) -> 0;
spin(N) -> spin(N - 1).
down(0) -> spin(1000000);
down(N) -> 1 + down(N - 1).
busy(End) ->
    down(60),
    case erlang:statistics(runtime) of {T, _} when T > End -> halt(); _ -> busy(End) end.
main() -> busy(3000).
"""


class Made(rec.Case):
    pids = ()

    def tearDown(self):
        for pid in self.pids:
            for path in glob.glob(f"/tmp/perf-{pid}.map"):
                os.unlink(path)

    def recorded_jit(self, *command):
        run = self.recorded(*command)
        self.pids = [process["pid"] for process in run.info["processes"]]
        return run

    def test_a_perf_map_names_code(self):
        run = self.recorded_jit(rec.target("jit"), "map", "1")
        self.assertAlmostEqual(run.share_of("first", self_only=True), 50, delta=8)
        self.assertAlmostEqual(run.share_of("second", self_only=True), 50, delta=8)

    def test_a_jitdump_tells_code_at_one_address_apart_by_time(self):
        run = self.recorded_jit(rec.target("jit"), "dump", "1")
        self.assertAlmostEqual(run.share_of("first", self_only=True), 50, delta=8)
        self.assertAlmostEqual(run.share_of("second", self_only=True), 50, delta=8)
        for path in glob.glob(os.path.join(run.directory, "jit-*.dump")):
            os.unlink(path)
        done = subprocess.run([rec.REC, "convert", run.path(), "-o", "-", "--format", "collapsed"],
                              capture_output=True, text=True, timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(";first ", done.stdout)
        self.assertIn(";second ", done.stdout)

    def test_code_without_a_name_is_one_function_a_mapping(self):
        run = self.recorded_jit(rec.target("jit"), "none", "1")
        leaves = {}
        for stack, weight in run.stacks().items():
            leaves[stack[-1]] = leaves.get(stack[-1], 0) + weight
        hottest = max(leaves, key=leaves.get)
        self.assertRegex(hottest, r"^\[anon 0x[0-9a-f]+\]$")
        self.assertGreater(leaves[hottest], 0.9 * sum(leaves.values()))

    def test_names_cannot_break_what_shows_them(self):
        evil = "\x1b[31mred;semi\tcolon</script>\x07\udcff\u202e 17"
        for kind in ("map", "dump"):
            with self.subTest(kind=kind):
                run = self.recorded_jit(rec.target("jit"), kind, "0.6", evil)
                texts = [open(run.path("rec.folded"), "rb").read(),
                         gzip.open(run.path("rec.json.gz")).read()]
                for command in (["report", run.path()], ["report", "--json", run.path()],
                                ["info", run.path()]):
                    done = subprocess.run([rec.REC, *command], capture_output=True,
                                          timeout=rec.TIMEOUT_S)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    texts.append(done.stdout)
                for text in texts:
                    self.assertFalse(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), text[:4000])
                    text.decode("utf-8")
                for line in texts[0].decode().splitlines():
                    self.assertRegex(line, r"^\S.* [0-9]+$")
                self.assertIn("red:semi", texts[0].decode())
                json.loads(texts[1])
                json.loads(texts[3])

    def test_stacks_through_code_without_frame_pointers_are_incomplete(self):
        """The frame pointer leads past the callers, to a stack that ends in the C library."""
        for engine in ("perf-trap", "perf-ring"):
            with self.subTest(engine=engine):
                run = self.recorded(rec.target("jit_frames"), "with", "0.3", rec_options=[f"--engine={engine}"])
                self.assertGreater(run.complete_percent(), 98, run.summary)
                self.assertEqual(run.count("cut.no-frame-pointer"), 0)
                run = self.recorded(rec.target("jit_frames"), "without", "0.3", rec_options=[f"--engine={engine}"])
                self.assertGreater(run.count("cut.no-frame-pointer"), 0.95 * run.count("samples"), run.summary)
                self.assertRegex(run.stderr, b"JIT code without frame pointers")
                generated = {";".join(stack): weight for stack, weight in run.stacks().items()
                             if any(frame.startswith("[anon") for frame in stack)}
                for stack in generated:
                    self.assertRegex(stack, r"\[truncated\];\[anon [^;]*(;\[kernel\])?$")
                below_main = sum(weight for stack, weight in generated.items() if ";main;[truncated];" in stack)
                self.assertGreater(below_main, 0.95 * sum(generated.values()))

    def test_no_caller_is_left_out_at_the_entry_and_at_the_end_of_a_function(self):
        """FP is the caller's before a frame is set up and behind its end: half of the samples of `inner`."""
        for engine in ("perf-trap", "perf-ring"):
            with self.subTest(engine=engine):
                run = self.recorded(rec.target("jit_frames"), "short", "0.2", rec_options=[f"--engine={engine}"])
                self.pids = [process["pid"] for process in run.info["processes"]]
                below = {stack[stack.index("main") + 1:]: weight for stack, weight in run.stacks().items()
                         if "inner" in stack and "[truncated]" not in stack}
                self.assertEqual({stack[:3] for stack in below}, {("outer", "middle", "inner")})
                self.assertGreater(sum(below.values()), 0.1 * sum(run.stacks().values()))
                self.assertGreater(run.complete_percent(), 98, run.summary)

    def test_code_that_realigns_its_stack_at_its_entry_has_its_caller(self):
        """In the copies of perf-ring: the sampler itself follows frame pointers only."""
        run = self.recorded(rec.target("realigned_entry"), "1500", rec_options=["-q", "-F", "999", "--engine=perf-ring"])
        whole = {stack[stack.index("main"):] for stack in run.stacks()
                 if "compute" in stack and "[truncated]" not in stack}
        self.assertTrue(whole)
        for stack in whole:
            self.assertEqual(stack[:2] + stack[3:5], ("main", "schedule", "run", "compute"))
            self.assertRegex(stack[2], r"^\[anon ")
        # The first copies have 16 KiB, and end at pages without memory.
        short = 100 * (run.count("cut.stack-copy") + run.count("cut.stack-page")) / run.count("samples")
        self.assertGreater(run.complete_percent() + short, 99, run.summary)
        self.assertLess(short, 50, run.summary)

    def test_erlang_stacks_reach_the_start_of_the_process_and_the_scheduler(self):
        """No frame pointers: callers by terms and return addresses, and the scheduler loop by its entry."""
        if not shutil.which("erlc"):
            self.skipTest("erlc is not installed (Debian: erlang-base)")
        self.need_engine("perf-trap")
        directory = self.new_directory()
        with open(os.path.join(directory, "deep.erl"), "w", encoding="utf-8") as file:
            file.write(ERLANG)
        subprocess.run(["erlc", "deep.erl"], cwd=directory, check=True, timeout=rec.TIMEOUT_S)
        run = self.recorded("erl", "+S", "1", "-noshell", "-pa", directory, "-s", "deep", "main")
        if not any(frame.startswith("[memfd:vmem") for stack in run.stacks() for frame in stack):
            self.skipTest("this Erlang has no JIT compiler")
        self.assertGreater(run.complete_percent(), 90, run.summary)
        depths, scheduler = {}, {}
        for stack, weight in run.stacks().items():
            frames = [frame for frame in stack if not frame.startswith("[kernel]")]
            generated = [frame.startswith("[memfd:vmem") for frame in frames[1:]]
            if generated and all(generated):  # of one frame: other processes in their first functions, at the start
                depths[len(generated)] = depths.get(len(generated), 0) + weight
            elif any(generated) and "[truncated]" not in stack:
                scheduler[tuple(frames[1:3])] = scheduler.get(tuple(frames[1:3]), 0) + weight
        usual = max(depths, key=depths.get)
        self.assertGreater(usual, 60)
        self.assertGreater(depths[usual], 0.95 * sum(depths.values()), depths)
        self.assertEqual(set(scheduler), {("clone3", "start_thread")})

    def test_node_has_the_names_of_its_functions(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed (Debian: nodejs)")
        for option in ("--perf-basic-prof", "--perf-prof"):
            with self.subTest(option=option):
                run = self.recorded_jit("node", option, "-e", SCRIPT)
                named = sum(weight for stack, weight in run.stacks().items()
                            if any(re.match(r"JS:.?(whole|inner|outer) ", frame) for frame in stack))
                self.assertGreater(named, 0.5 * sum(run.stacks().values()))


if __name__ == "__main__":
    rec.main()

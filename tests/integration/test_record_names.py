#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions, inlined calls and lines have the names that the source gives them, also in plugins that come
and go, and the program's own symbols need no debug directory."""
import gzip
import json
import os
import shutil
import subprocess

import rec


def marked_line(source, mark):
    """The number of the line of a target's source that ends with this mark."""
    text = (rec.SOURCE / "tests" / "targets" / source).read_text(encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1)
             if line.endswith(f"/* mark: {mark} */")]
    assert len(lines) == 1, mark
    return lines[0]


class Inlined(rec.Case):
    def test_inlined_calls_are_frames_of_their_own(self):
        run = self.recorded(rec.target("inlined"), "500")
        chain = ("main", "outer", "middle", "inner")
        hits = sum(weight for stack, weight in run.stacks().items() if stack[-4:] == chain)
        self.assertGreater(hits, 0.9 * sum(run.stacks().values()))

    def test_every_frame_of_an_inlined_chain_has_its_line(self):
        run = self.recorded(rec.target("inlined"), "500")
        with gzip.open(run.path("rec.json.gz")) as file:
            tables = json.load(file)["shared"]
        lines = {}
        for func, line in zip(tables["frameTable"]["func"], tables["frameTable"]["line"]):
            name = tables["stringArray"][tables["funcTable"]["name"][func]]
            lines.setdefault(name, set()).add(line)
        works = marked_line("inlined.c", "works")
        self.assertLessEqual(lines["inner"], {works, works - 1})
        for name, mark in (("middle", "middle calls inner"), ("outer", "outer calls middle"),
                           ("main", "main calls outer")):
            self.assertIn(marked_line("inlined.c", mark), lines[name], name)
            self.assertLessEqual(len(lines[name]), 2, name)  # main also looks at the clock

    def test_the_report_names_the_source_of_an_inlined_function(self):
        run = self.recorded(rec.target("inlined"), "500")
        done = subprocess.run([rec.REC, "report", "--json", run.path()], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        hot = max(report["functions"], key=lambda function: function["self_ns"])
        self.assertEqual(hot["name"], "inner")
        self.assertTrue(hot["file"].endswith("tests/targets/inlined.c"), hot)


class DebugDirectory(rec.Case):
    def test_without_debug_files_names_and_completeness_stay(self):
        # Throwing rewrites its own frame for a moment: see record_complete.
        for program, argument, names, least_complete in (
                ("shares", "600", ("hot_70", "hot_20", "hot_10", "main"), 99.5),
                ("inlined", "300", ("inner", "outer", "main"), 99.5),
                ("throws", "300", ("go_down(int, long&)",), 97)):
            with self.subTest(program=program):
                run = self.recorded(rec.target(program), argument,
                                    rec_options=["--debug-dir=/nonexistent"])
                for name in names:
                    self.assertGreater(run.share_of(name), 5, name)
                self.assertGreaterEqual(run.complete_percent(), least_complete)


class Plugins(rec.Case):
    def test_plugins_at_the_same_address_keep_their_own_names(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(rec.target("plugins"), "1200", rec.target("lib_plugin_a.so"),
                                    rec.target("lib_plugin_b.so"),
                                    rec_options=["-F", "4999", f"--engine={engine}"])
                self.assertEqual(run.stdout, b"the same address\n",
                                 "the plugins were not mapped where the test needs them")
                a, b = run.share_of("work_of_plugin_a"), run.share_of("work_of_plugin_b")
                # A tick of the timer is not long against a call: two for one are not rare.
                self.assert_within(a, 50, 20, "per cent in plugin a")
                self.assert_within(b, 50, 20, "per cent in plugin b")
                for stack in run.stacks():
                    self.assertFalse({"work_of_plugin_a", "work_of_plugin_b"} <= set(stack), stack)

    def test_calls_from_a_plugin_that_was_just_loaded_are_in_the_stack(self):
        plugins = [os.path.join(self.directory, f"visitor_{i}.so") for i in range(20)]
        for plugin in plugins:
            shutil.copy(rec.target("lib_visitor.so"), plugin)
        run = self.recorded(rec.target("visitors"), *plugins, rec_options=["-F", "4999"])
        calls = [stack for stack in run.stacks() if "work" in stack]
        for stack in calls:
            self.assertIn("plugin_visit", stack)
        self.assertGreater(len(calls), 0)
        self.assertGreater(run.count("misses"), 500)


if __name__ == "__main__":
    rec.main()

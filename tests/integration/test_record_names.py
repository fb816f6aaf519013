#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions, inlined calls and lines have the names that the source gives them, also in plugins that come
and go, and the program's own symbols need no debug directory."""
import gzip
import json
import os
import shutil
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests/clients"))
import decoders  # noqa: E402


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


class BriefThreads(rec.Case):
    def test_threads_that_end_before_the_map_is_there_have_their_names(self):
        run = self.recorded(rec.target("brief_threads"), "40", rec_options=["-F", "99"])
        text = subprocess.run([rec.REC, "convert", run.path(), "--format", "perf-text", "-o", "-"],
                              capture_output=True, text=True, timeout=60, check=True).stdout
        ends = [sample for sample in text.split("\n\n") if "end_early" in sample]
        self.assertGreaterEqual(len(ends), 38)


class TakenNames(rec.Case):
    def assert_named(self, name, milliseconds):
        """In one of a few runs: on a busy machine rec has no turn before such a program ends."""
        runs = (self.recorded(rec.target("takes_names"), milliseconds) for _ in range(5))
        names = ([thread["name"] for thread in run.info["threads"]] for run in runs)
        self.assertTrue(any(name in some for some in names))

    def test_a_thread_that_sleeps_in_a_short_program(self):
        self.assert_named("sleeper", "25")

    def test_a_program_that_takes_another_name_early(self):
        self.assert_named("changed", "80")


class NoInline(rec.Case):
    """What symbol tables say alone, of names that are stored and of names that are looked up."""

    def converted(self, run, data, name, *options):
        done = subprocess.run([rec.REC, "convert", "-q", *options, data, "-o", name],
                              cwd=run.directory, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run.path(name)

    def pprof(self, run, data, *options):
        return decoders.Pprof(self.converted(run, data, "out.pb", *options))

    def outermost_names(self, profile):
        """For each address of the program the function which the others are inlined into."""
        outermost = {decoders.one(location, 3): profile.frames(number)[-1][0]
                     for number, location in profile.locations.items()}
        return {address: name for address, name in outermost.items()
                if name in ("main", "outer", "middle", "inner", "burn_clock_ns")}

    def without_stored_names(self, run):
        with open(run.path(), "rb") as file, open(run.path("bare.data"), "wb") as bare:
            bare.write(file.read().replace(b"RECNAMES", b"NOTNAMES"))
        return "bare.data"

    def test_frames_are_those_of_the_full_conversion_without_the_inlined_ones(self):
        run = self.recorded(rec.target("inlined"), "300")
        full = self.outermost_names(self.pprof(run, "rec.data"))
        for data in ("rec.data", self.without_stored_names(run)):
            with self.subTest(data=data):
                profile = self.pprof(run, data, "--no-inline")
                self.assertEqual(self.outermost_names(profile), full)
                for number in profile.locations:
                    frames = profile.frames(number)
                    self.assertEqual([frame[1:] for frame in frames], [("", 0)])
                names = {frame[0] for number in profile.locations for frame in profile.frames(number)}
                self.assertIn("outer", names)
                self.assertFalse({"middle", "inner"} & names)

    def test_stored_names_and_files_give_the_same_text(self):
        run = self.recorded(rec.target("throws"), "200")
        bare = self.without_stored_names(run)
        for suffix in ("speedscope.json", "perf.txt", "folded"):
            texts = []
            for data in ("rec.data", bare):
                with open(self.converted(run, data, f"out.{suffix}", "--no-inline"), "rb") as file:
                    texts.append(file.read())
            self.assertEqual(texts[0], texts[1], suffix)

    def test_a_table_with_more_symbols_than_are_read_while_samples_are_loaded(self):
        """It is read as any other once all addresses are known."""
        texts = {
            "many.s": "".join(f".type f{i}, @function\nf{i}: ret\n.size f{i}, 1\n" for i in range(70000))
                      + ".section .note.GNU-stack\n",
            "main.c": "__attribute__((noinline)) static long work(long n)\n"
                      "{\n    for (volatile long i = 0; i < n; i++)\n        ;\n    return n;\n}\n"
                      "int main(void)\n{\n    return work(100000000) == 1;\n}\n"}
        for name, text in texts.items():
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["gcc", "-O1", "-Wl,--build-id", *texts, "-o", "many"], cwd=self.directory, check=True)
        run = self.recorded(os.path.join(self.directory, "many"))
        with open(self.converted(run, self.without_stored_names(run), "out.folded", "--no-inline"),
                  encoding="utf-8") as file:
            self.assertIn(";main;work ", file.read())

    def test_what_was_recorded_without_gets_its_inlined_calls_when_they_are_asked_for(self):
        run = self.recorded(rec.target("inlined"), "300", rec_options=["--no-inline"])
        self.assertGreater(run.share_of("outer", self_only=True), 90)
        with open(self.converted(run, "rec.data", "later.folded"), encoding="utf-8") as file:
            self.assertIn(";main;outer;middle;inner ", file.read())
        done = subprocess.run([rec.REC, "report", "--no-inline", "--json", run.path()],
                              capture_output=True, timeout=60)
        names = {function["name"] for function in json.loads(done.stdout)["functions"]}
        self.assertIn("outer", names)
        self.assertNotIn("inner", names)


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
        self.assertGreater(run.count("misses"), 50)


if __name__ == "__main__":
    rec.main()

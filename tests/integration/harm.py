# SPDX-License-Identifier: MIT
"""Runs programs that would show what a sampler does to them, bare and under rec, and compares.

A watchdog ends, as a failure, whatever takes far longer than it may: all of its processes, not only rec.
"""
import hashlib
import os
import re
import shutil
import signal
import subprocess

import rec

FAST_HZ = 9999


def clean(text, patterns):
    for pattern in patterns:
        text = re.sub(pattern, b"#", text)
    return text


def files_below(directory):
    """{relative path: hash of its contents}"""
    found = {}
    for root, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = hashlib.sha256(file.read()).hexdigest()
    return found


class Case(rec.Case):
    def watched(self, command, directory=None, timeout_s=None, **options):
        """A finished run; a failure, with the whole tree killed, when it hangs."""
        directory = directory or self.new_directory()
        timeout_s = timeout_s or rec.figure(60, 600)
        options.setdefault("stdin", subprocess.DEVNULL)
        stolen_before_ns = rec.stolen_ns()
        process = subprocess.Popen([str(word) for word in command], cwd=directory, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **options)
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail(f"hung for {timeout_s} s: {command}")
        return rec.Run(subprocess.CompletedProcess(command, process.returncode, stdout, stderr),
                       directory, 0, rec.stolen_ns() - stolen_before_ns)

    def under(self, engine, *command, rate=FAST_HZ, **options):
        self.need_engine(engine)
        return self.watched([rec.REC, "-q", "-F", rate, f"--engine={engine}", "-o", "rec.data", "--",
                             *command], **options)

    def same(self, *command, turns=1, rates=(FAST_HZ,), **options):
        """Status and output under every engine are those of a bare run. Yields the recorded runs."""
        bare = self.watched(command, **options)
        self.assertEqual(bare.status, 0, bare.stderr)
        for engine in rec.ENGINES:
            for rate in rates:
                for turn in range(turns):
                    run = None
                    with self.subTest(program=os.path.basename(str(command[0])), engine=engine, rate=rate,
                                      turn=turn):
                        run = self.under(engine, *command, rate=rate, **options)
                        self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout), run.stderr)
                    if run:
                        yield run


class Identical(Case):
    """For programs whose files are compared, too."""

    def setUp(self):
        super().setUp()
        self.profile = os.path.join(self.new_directory(), "rec.data")

    def run_both(self, command, engine, place=(), **options):
        """(bare, recorded), each in an empty directory of the same name. place: what runs both."""
        runs = []
        for prefix in ([], [rec.REC, "-q", "-F", FAST_HZ, f"--engine={engine}", "-o", self.profile,
                            "--"]):
            directory = os.path.join(self.directory, "work")
            shutil.rmtree(directory, ignore_errors=True)
            os.mkdir(directory)
            run = self.watched([*place, *prefix, *command], directory, **options)
            runs.append((run.status, run.stdout, run.stderr, files_below(directory)))
        return runs

    def identical(self, *command, differs=(), tries=1, may_have_no_samples=False, engines=rec.ENGINES,
                  status=None, **options):
        """differs: what time or a pid makes different. tries: for those that depend on the load. status: the expected one."""
        for engine in engines:
            with self.subTest(program=os.path.basename(command[0]), engine=engine):
                self.need_engine(engine)
                for left in reversed(range(tries)):
                    bare, recorded = self.run_both(command, engine, **options)
                    self.assertIn(bare[0], (bare[0] if status is None else status,), bare[2])
                    bare, recorded = [(run[0], *(clean(text, differs) for text in run[1:3]), run[3])
                                      for run in (bare, recorded)]
                    if may_have_no_samples:
                        recorded = self.without_empty_recording(recorded)
                    if left == 0 or recorded == bare:
                        break
                self.assertEqual(recorded, bare)

    @staticmethod
    def without_empty_recording(run):
        status, stdout, stderr, files = run
        stderr = re.sub(rb"rec: no samples at all[^\n]*\n", b"", stderr)
        return status, stdout, stderr, files

    def build(self, name, text, *options, compiler="gcc"):
        self.need_program(compiler)
        source = os.path.join(self.directory, f"{name}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        path = os.path.join(self.directory, name)
        done = subprocess.run([compiler, "-O1", "-g", *options, source, "-o", path], capture_output=True)
        if done.returncode:
            self.skipTest(f"{compiler} cannot build with {' '.join(options)} here")
        return path

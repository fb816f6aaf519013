# SPDX-License-Identifier: MIT
"""Runs programs that would show what a sampler does to them, bare and under rec, and compares.

A watchdog ends, as a failure, whatever takes far longer than it may: all of its processes, not only rec.
"""
import os
import signal
import subprocess

import rec

FAST_HZ = 9999


class Case(rec.Case):
    def watched(self, command, directory=None, timeout_s=None, **options):
        """A finished run; a failure, with the whole tree killed, when it hangs."""
        directory = directory or self.new_directory()
        timeout_s = timeout_s or rec.figure(60, 600)
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([str(word) for word in command], cwd=directory, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **options)
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail(f"hung for {timeout_s} s: {command}")
        return rec.Run(subprocess.CompletedProcess(command, process.returncode, stdout, stderr),
                       directory, 0)

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
                    with self.subTest(program=os.path.basename(str(command[0])), engine=engine, rate=rate,
                                      turn=turn):
                        run = self.under(engine, *command, rate=rate, **options)
                        self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout), run.stderr)
                        yield run

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIGKILL at any instant: of the program, rec ends as it would and its file holds what was recorded; of
rec, the program goes on to its end. Neither leaves a process or a file behind."""
import os
import random
import signal
import subprocess
import time
import uuid

import harm
import rec

INSTANTS_OF_PROGRAM = rec.figure(30, 500)
INSTANTS_OF_REC = rec.figure(12, 200)
MARK = "REC_TEST_MARK"


def children_of(pid):
    children = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return children


def processes_with(mark):
    """Pids of all processes that inherited this mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if name.isdigit() and f"{MARK}={mark}".encode() in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return found


class Kills(harm.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(os.getpid())
        self.mark = uuid.uuid4().hex
        self.temporary = self.new_directory()

    def start(self, engine, *command):
        """(rec, its directory), once the command runs."""
        self.need_engine(engine)
        directory = self.new_directory()
        environment = dict(os.environ, TMPDIR=self.temporary, **{MARK: self.mark})
        process = subprocess.Popen([rec.REC, "-q", "-F", str(harm.FAST_HZ), f"--engine={engine}", "-o",
                                    "rec.data", "--", *map(str, command)], cwd=directory,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment, start_new_session=True)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + 10
        while not children_of(process.pid) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.0002)
        return process, directory

    @staticmethod
    def end(process):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def wait_a_little(self):
        time.sleep(self.random.choice((0.002, 0.02, 0.3)) * self.random.random())

    def assert_readable(self, directory):
        done = subprocess.run([rec.REC, "info", "rec.data"], cwd=directory, capture_output=True,
                              timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([rec.REC, "convert", "-o", "out.folded"], cwd=directory, capture_output=True,
                              timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_nothing_is_left(self, directory):
        deadline = time.monotonic() + 10
        while processes_with(self.mark) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(processes_with(self.mark), [])
        self.assertEqual(os.listdir(self.temporary), [])
        self.assertEqual(os.listdir(directory), ["rec.data"])

    def test_of_the_program(self):
        programs = ((rec.target("storm_malloc"), 1000000), (rec.target("storm_threads"), 100000),
                    (rec.target("plugins"), 60000, rec.target("lib_plugin_a.so"),
                     rec.target("lib_plugin_b.so")))
        for turn in range(INSTANTS_OF_PROGRAM):
            engine, program = rec.ENGINES[turn % 2], programs[turn % len(programs)]
            with self.subTest(engine=engine, program=program[0], turn=turn):
                process, directory = self.start(engine, *program)
                self.wait_a_little()
                for child in children_of(process.pid):
                    os.kill(child, signal.SIGKILL)
                stdout, stderr = process.communicate(timeout=rec.TIMEOUT_S)
                self.assertEqual((process.returncode, stdout), (-signal.SIGKILL, b""), stderr)
                self.assert_nothing_is_left(directory)
                self.assert_readable(directory)

    def test_of_rec(self):
        script = f"{rec.target('storm_malloc')} 8000; echo status $?; {rec.target('storm_threads')} 50; " \
                 f"{rec.target('storm_processes')} 8; echo status $?"
        bare = self.watched(["sh", "-c", script])
        self.assertEqual(bare.stdout.count(b"status 0"), 2)
        for turn in range(INSTANTS_OF_REC):
            engine = rec.ENGINES[turn % 2]
            with self.subTest(engine=engine, turn=turn):
                process, directory = self.start(engine, "sh", "-c", script)
                self.wait_a_little()
                process.kill()
                stdout, stderr = process.communicate(timeout=rec.TIMEOUT_S)
                self.assertEqual((stdout, stderr), (bare.stdout, bare.stderr))
                self.assert_nothing_is_left(directory)
                self.assert_readable(directory)


if __name__ == "__main__":
    rec.main()

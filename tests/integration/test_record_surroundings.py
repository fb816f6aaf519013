#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorded program finds the descriptors, signals, limits and variables that it finds without rec."""
import json
import os
import pty
import resource
import signal
import subprocess

import rec

# Everything a program can see of the process that it was born into.
LOOK = r"""
import json, os, resource, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
fds = {}
for name in os.listdir("/proc/self/fd"):
    try:
        fds[int(name)] = os.readlink("/proc/self/fd/" + name)
    except OSError:
        pass
print(json.dumps({
    "fds": fds,
    "blocked": status["SigBlk"].strip(),
    "ignored": status["SigIgn"].strip(),
    "tracer": status["TracerPid"].strip(),
    "seccomp": status["Seccomp"].strip(),
    "umask": status["Umask"].strip(),
    "groups": [os.getpgid(0) == os.getpgid(os.getppid()), os.getsid(0)],
    "nice": os.nice(0),
    "cwd": os.getcwd(),
    "argv": sys.argv,
    "limits": [resource.getrlimit(n) for n in range(resource.RLIMIT_NOFILE + 1)],
    "affinity": sorted(os.sched_getaffinity(0)),
    "environment": dict(os.environ),
    "stdin": sys.stdin.read(),
}))
"""
LOOK_FOR_CLOSED = r"""
import json, os
closed = []
for fd in range(3):
    try:
        os.fstat(fd)
    except OSError:
        closed.append(fd)
with open("found", "w") as file:
    json.dump(closed, file)
for i in range(80):
    sum(range(300000))
"""
PYTHON = "/usr/bin/python3"
OURS = {"LD_PRELOAD", "REC_SESSION"}


class Surroundings(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program(PYTHON)

    def look(self, rec_options=None, **options):
        """The program's account, under rec when options for it are given."""
        command = [PYTHON, "-c", LOOK, "an argument", "", "--quiet"]
        if rec_options is not None:
            command = [rec.REC, "-q", *rec_options, "--", *command]
        done = subprocess.run(command, cwd=self.directory, stdout=subprocess.PIPE, check=True,
                              timeout=60, **options)
        return json.loads(done.stdout)

    def test_nothing_but_two_variables_is_different(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                bare = self.look(input=b"typed\n")
                recorded = self.look([f"--engine={engine}"], input=b"typed\n")
                for environment in (bare["environment"], recorded["environment"]):
                    for name in OURS:
                        environment.pop(name, None)
                for account in (bare, recorded):
                    account["fds"] = [number for number in account["fds"] if int(number) < 100]
                self.assertEqual(recorded, bare)

    def test_blocked_and_ignored_signals_stay_so(self):
        script = f"trap '' USR1 PIPE; exec {PYTHON} -c '{LOOK}'"
        run = self.record("sh", "-c", script)
        self.assertEqual(json.loads(run.stdout)["ignored"],
                         json.loads(self.bare("sh", "-c", script).stdout)["ignored"])

    def test_signals_that_rec_handles_stay_ignored(self):
        ignored = (signal.SIGRTMIN, signal.SIGCHLD, signal.SIGXFSZ)
        command = [rec.REC, "-q", "--", "grep", "SigIgn", "/proc/self/status"]
        for _ in range(8):
            done = subprocess.run(command, cwd=self.directory, stdout=subprocess.PIPE, check=True, timeout=60,
                                  preexec_fn=lambda: [signal.signal(each, signal.SIG_IGN) for each in ignored])
            mask = int(done.stdout.split()[1], 16)
            self.assertEqual([each for each in ignored if not mask >> (each - 1) & 1], [])

    def test_an_existing_preload_is_kept(self):
        library = rec.target("lib_plugin_a.so")
        environment = dict(os.environ, LD_PRELOAD=library)
        account = self.look([], env=environment, stdin=subprocess.DEVNULL)
        self.assertIn(library, account["environment"]["LD_PRELOAD"].split(":"))
        run = self.record("grep", "-c", "lib_plugin_a", "/proc/self/maps", env=environment)
        self.assertGreater(int(run.stdout), 0)

    def test_small_limits_on_descriptors_are_enough(self):
        run = self.record("sh", "-c", "ulimit -n; ls /proc/self/fd | sort -n | head -4",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.stdout.split()[0], b"64")

    def test_too_few_descriptors_are_a_reason_not_to_start(self):
        for count, status in ((16, 0), (15, 125)):
            with self.subTest(descriptors=count):
                run = self.record("sh", "-c", "echo ran; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done",
                                  rec_options=["-q"],
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
                self.assertEqual((run.status, run.stdout), (status, b"" if status else b"ran\n"), run.stderr)
                if status == 0:
                    self.assertGreater(run.complete_percent(), 90, run.summary)
                else:
                    self.assertEqual(run.stderr, b"rec: no more than 15 files may be open at once here "
                                     b"(ulimit -Hn): rec needs 16\n")

    def test_small_stacks_are_enough(self):
        """Those of the shell's `ulimit -s 64`, for recording, all outputs, and reading them again. The first frame is at
        a random place: 4 KiB are left."""
        script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; /bin/true"
        def limited():
            resource.setrlimit(resource.RLIMIT_STACK, (60 << 10, 60 << 10))
        run = self.recorded("sh", "-c", script, rec_options=["-q", "-z", "-F", "9999"], preexec_fn=limited)
        for arguments in (["report", "rec.data"], ["info", "rec.data"],
                          ["convert", "-q", "rec.data", "-o", "again.json.gz", "-o", "again.pb.gz",
                           "-o", "again.perf.txt"]):
            with self.subTest(command=arguments[0]):
                done = self.run_in(run.directory, [rec.REC, *arguments], preexec_fn=limited)
                self.assertEqual(done.status, 0, done.stderr)

    def test_all_output_of_rec_goes_to_stderr(self):
        run = self.record("printf", "exactly this")
        self.assertEqual(run.stdout, b"exactly this")
        self.assertIn(b"rec: ", run.stderr)

    def test_closed_standard_descriptors_stay_closed_and_nothing_is_written_in_their_place(self):
        for closed in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            with self.subTest(closed=closed):
                def close():
                    for fd in closed:
                        os.close(fd)
                run = self.recorded(PYTHON, "-c", LOOK_FOR_CLOSED, rec_options=["-F", "999"], preexec_fn=close)
                with open(run.path("found"), encoding="utf-8") as file:
                    self.assertEqual(json.load(file), list(closed))
                self.assertGreater(run.info["samples"], 50)

    def test_the_terminal_stays_the_programs(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execv(rec.REC, [rec.REC, "-q", "--", "sh", "-c",
                               "test -t 0 && test -t 1 && test -t 2 && read line && stty size "
                               "&& echo got $line"])
        os.write(terminal, b"word\n")
        seen = b""
        try:
            while b"got word" not in seen:
                piece = os.read(terminal, 1000)
                seen += piece
        except OSError:
            pass
        _, status = os.waitpid(pid, 0)
        os.close(terminal)  # not before: that hangs up
        self.assertIn(b"got word", seen)
        self.assertEqual(status, 0)


if __name__ == "__main__":
    rec.main()

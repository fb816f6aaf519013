#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""rec --repeat: a capture for each run in a directory of its own, and the worst run's status."""
import os
import signal
import subprocess
import sys
import tempfile
import time

REC = os.environ["REC"]
SHORT = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def rec(*words, cwd):
    return subprocess.run([REC, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)


def a_capture_for_each_run(here):
    done = rec("-q", "--repeat", "3", "-o", "runs/", "--", "sh", "-c", SHORT, cwd=here)
    check("status 0", done.returncode == 0, done.stderr)
    check("three captures and nothing else", sorted(os.listdir(f"{here}/runs")) ==
          ["run-01.data", "run-02.data", "run-03.data"], os.listdir(f"{here}/runs"))
    for name in sorted(os.listdir(f"{here}/runs")):
        done = rec("report", f"runs/{name}", cwd=here)
        check(f"{name} is readable", done.returncode == 0, done.stderr)
    before = os.stat(f"{here}/runs/run-01.data").st_ino
    done = rec("-q", "--repeat", "2", "-o", "runs/", "--", "sh", "-c", SHORT, cwd=here)
    check("captures of an earlier series stay", done.returncode == 125 and len(done.stderr.splitlines()) == 1 and
          "already has the capture" in done.stderr and os.stat(f"{here}/runs/run-01.data").st_ino == before, done.stderr)


def the_worst_status_is_ours(here):
    done = rec("-q", "--repeat", "3", "-o", "worst/", "--", "sh", "-c",
               "echo run >> count; test $(wc -l < count) -ne 2 || exit 7", cwd=here)
    check("the status of the second run", done.returncode == 7, (done.returncode, done.stderr))
    check("the series went on", len(os.listdir(f"{here}/worst")) == 3)
    done = rec("-q", "--repeat", "2", "-o", "killed/", "--", "sh", "-c", "kill -9 $$", cwd=here)
    check("the death signal of a run", done.returncode == -signal.SIGKILL, (done.returncode, done.stderr))
    done = rec("-q", "--repeat", "3", "-o", "none/", "--", "./missing", cwd=here)
    check("a missing command ends the series", done.returncode == 127 and not os.path.exists(f"{here}/none") and
          "after 1 of 3 runs" in done.stderr, (done.returncode, done.stderr))


def a_directory_is_needed(here):
    for words in ([], ["-o", "a.data"], ["-o", "d/", "-o", "a.folded"]):
        done = rec("--repeat", "2", *words, "--", "true", cwd=here)
        check(f"refused: {words}", done.returncode == 125 and "-o DIR/" in done.stderr, done.stderr)
    done = rec("--repeat", "2", "-p", "1", "-o", "d/", cwd=here)
    check("running processes", done.returncode == 125 and "--repeat" in done.stderr, done.stderr)
    check("nothing was written", not os.path.exists(f"{here}/d") and not os.path.exists(f"{here}/a.data"))


def a_signal_ends_the_series(here):
    process = subprocess.Popen([REC, "-q", "--repeat", "50", "-o", "ended/", "--", "sleep", "0.4"], cwd=here,
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while not os.path.exists(f"{here}/ended/run-02.data") and time.time() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    check("the run gets the signal, and is the last", process.returncode == -signal.SIGTERM and
          "of 50 runs" in errors, (process.returncode, errors))
    check("its capture is complete", rec("report", "ended/run-02.data", cwd=here).returncode == 0)


with tempfile.TemporaryDirectory() as here:
    a_capture_for_each_run(here)
    the_worst_status_is_ours(here)
    a_directory_is_needed(here)
    a_signal_ends_the_series(here)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

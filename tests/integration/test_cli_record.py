#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a recording leaves and says: files, their names, modes and owners, the exit status, the summary."""
import fcntl
import gzip
import json
import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

REC = os.environ["REC"]
USUAL = ["rec.data", "rec.folded", "rec.json.gz", "rec.pb.gz"]
# Half a second of CPU in the shell's own arithmetic.
BURN = ["sh", "-c", "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done"]
# Between 0.1 and 1 s of CPU time.
LONGER = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'"
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def rec(*words, cwd, **more):
    return subprocess.run([REC, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False, **more)


def files(directory):
    return sorted(os.listdir(directory))


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def usual_files(here):
    os.umask(0o022)
    done = rec("--", *BURN, cwd=here)
    check("status 0", done.returncode == 0, done.stderr)
    check("the usual four files", files(here) == USUAL, files(here))
    check("all files are private", [mode(f"{here}/{name}") for name in USUAL] == [0o600] * 4)
    with open(f"{here}/rec.data", "rb") as file:
        check("a perf.data", file.read(8) == b"PERFILE2")
    with gzip.open(f"{here}/rec.json.gz") as file:
        check("Firefox's file is JSON", "meta" in json.load(file))
    with gzip.open(f"{here}/rec.pb.gz") as file:
        check("pprof's file is gzipped", len(file.read()) > 100)
    with open(f"{here}/rec.folded", encoding="utf-8") as file:
        check("collapsed stacks end in a weight", all(line.split()[-1].isdigit() for line in file))
    lines = done.stderr.splitlines()
    check("at most six lines, all rec's", len(lines) <= 6 and
          all(line.startswith("rec: ") for line in lines), done.stderr)
    check("line 1", "sh ran" in lines[0] and "status 0" in lines[0], lines[0])
    check("line 2", "samples" in lines[1] and "complete stacks" in lines[1], lines[1])
    check("names the files", "wrote rec.data" in done.stderr and "rec.folded" in done.stderr)
    check("no viewers in a pipe", "view:" not in done.stderr, done.stderr)


def the_previous_capture_is_kept(here):
    with open(f"{here}/rec.data", "rb") as file:
        before = file.read()
    done = rec("-q", "--", *BURN, cwd=here)
    check("quiet is silent", done.stderr == "" and done.returncode == 0, done.stderr)
    with open(f"{here}/rec.data.old", "rb") as file:
        check("rec.data.old is the one before", file.read() == before)
    os.unlink(f"{here}/rec.data.old")


def a_link_makes_way_wherever_it_leads(here):
    os.mkdir(f"{here}/links")
    for target in ("../rec.data", "nowhere"):
        os.symlink(target, f"{here}/links/app.data")
        done = rec("-o", "links/app.data", "--", *BURN, cwd=here)
        check(f"a link to {target}", files(f"{here}/links") == ["app.data", "app.data.old"] and
              not os.path.islink(f"{here}/links/app.data") and "another rec" not in done.stderr,
              (files(f"{here}/links"), done.stderr))
        os.unlink(f"{here}/links/app.data")
    shutil.rmtree(f"{here}/links")


def a_capture_in_use_is_left_alone(here):
    with open(f"{here}/rec.data", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = held.read()
        done = rec("--", *BURN, cwd=here)
        held.seek(0)
        check("the other capture is as it was", held.read() == before)
    new = [name for name in files(here) if name not in USUAL]
    check("four private files", len(new) == 4 and len({name.split(".")[1] for name in new}) == 1, new)
    check("says so", "another rec" in done.stderr and new[0].split(".")[1] in done.stderr,
          done.stderr)
    for name in new:
        os.unlink(f"{here}/{name}")


def named_outputs(here):
    os.mkdir(f"{here}/run")
    done = rec("-q", "-o", "run/", "--", *BURN, cwd=here)
    check("-o DIR/", done.returncode == 0 and files(f"{here}/run") == USUAL, files(f"{here}/run"))
    shutil.rmtree(f"{here}/run")
    os.mkdir(f"{here}/run")
    done = rec("-q", "-o", "run/a.pb.gz", "-o", "run/a.folded", "--", *BURN, cwd=here)
    check("only what was asked for", done.returncode == 0 and
          files(f"{here}/run") == ["a.folded", "a.pb.gz"], files(f"{here}/run"))
    done = rec("-q", "-o", "run/perf.out", "--", *BURN, cwd=here)
    check("any other name is the capture",
          files(f"{here}/run") == ["a.folded", "a.pb.gz", "perf.out"], files(f"{here}/run"))
    done = rec("report", "run/perf.out", cwd=here)
    check("which can be reported", done.returncode == 0 and "run/perf.out" in done.stdout,
          done.stderr)
    shutil.rmtree(f"{here}/run")


def the_commands_end_is_ours(here):
    for wanted in (1, 3, 124, 125, 126, 127, 255):
        done = rec("-q", "--", "sh", "-c", f"exit {wanted}", cwd=here)
        check(f"status {wanted}", done.returncode == wanted, done.stderr)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE):
        done = rec("-q", "--", "sh", "-c", f"kill -{int(number)} $$", cwd=here)
        check(f"dies of {number.name}", done.returncode == -number, done.returncode)
    done = rec("--", *BURN[:2], BURN[2] + "; kill -TERM $$", cwd=here)
    check("the signal is named", "killed by SIGTERM" in done.stderr, done.stderr)
    check("no core file of ours", not [name for name in files(here) if name.startswith("core")])


def nothing_to_sample(here):
    done = rec("--", "sleep", "0.3", cwd=here)
    check("nothing to sample is no failure", done.returncode == 0, done.stderr)
    check("and is said", "nothing to sample" in done.stderr, done.stderr)
    # A period that no process reaches, again and again: the sum is more than a program may use without a sample.
    many = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done"
    for engine in ("timer", "perf-trap"):
        done = rec("-F", "1", f"--engine={engine}", "--", "sh", "-c", many, cwd=here)
        if engine == "perf-trap" and "is not available" in done.stderr:
            continue
        check("nor is much of it in short processes", done.returncode == 0, done.stderr)
        check("which is said, too", "no samples: no thread" in done.stderr, done.stderr)
        # And each of them longer than a program without samples may be, had it not a period that is longer still.
        done = rec("-F", "1", f"--engine={engine}", "--", "sh", "-c", f"{LONGER}; {LONGER}; {LONGER}", cwd=here)
        check("nor are longer ones", done.returncode == 0, done.stderr)
        check("the period is named", "of a sampling period, 1.0 s" in done.stderr, done.stderr)
        check("nothing is called lost", "no samples for" not in done.stderr, done.stderr)
    done = rec("report", cwd=here)
    check("an empty capture can be reported", done.returncode == 0, done.stderr)


def standard_streams_are_the_commands(here):
    done = subprocess.run([REC, "-q", "--", "cat"], input="through\n", cwd=here, text=True,
                          capture_output=True, timeout=60, check=False)
    check("stdin and stdout pass through", done.stdout == "through\n" and not done.stderr)


def a_terminal_gets_the_viewers(here):
    master, slave = pty.openpty()
    done = subprocess.Popen([REC, "--", *BURN], cwd=here, stderr=slave, stdout=slave)
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    done.wait()
    os.close(master)
    check("viewers", b"view: `rec report`, `rec view`" in said and b"profiler.firefox.com" in said, said)
    check("see a flame graph", b"rec.pb.gz in `go tool pprof -http=localhost:8000` at /ui/flamegraph"
          in said and b"flamegraph.pl" in said, said)
    check("at most six lines", said.count(b"rec: ") <= 7, said)


def interrupts_go_to_the_command(here):
    script = "trap 'exit 42' INT; i=0; while :; do i=$((i+1)); done"
    process = subprocess.Popen([REC, "--", "sh", "-c", script], cwd=here, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    check("the command handles Ctrl-C", process.returncode == 42, err)
    check("and the files are written", "wrote rec.data" in err, err)


def files_belong_to_who_called_sudo(here):
    if os.geteuid() != 0:
        print("not checked: sudo's owner needs root")
        return
    environment = {**os.environ, "SUDO_UID": "12345", "SUDO_GID": "23456"}
    os.mkdir(f"{here}/sudo")
    rec("-q", "-o", "sudo/", "--", *BURN, cwd=here, env=environment)
    for name in USUAL:
        owner = os.stat(f"{here}/sudo/{name}")
        check(f"{name} belongs to the caller of sudo",
              (owner.st_uid, owner.st_gid) == (12345, 23456), owner)
    shutil.rmtree(f"{here}/sudo")


def a_full_disk_is_a_failure_of_rec_alone(here):
    """On a file system of 16 KiB, mounted where only this command sees it. --keep-free looks at the disk every 250 ms:
    at the highest rate the disk is full 5 ms after the start."""
    script = f"mount -t tmpfs -o size=16k rec-test {here} && cd {here} && exec \"$@\""
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        print("not checked: a full disk needs permission to mount")
        return
    done = subprocess.run([*inside, REC, "-F", "max", "--", "sh", "-c", BURN[2] + "; echo ran"],
                          capture_output=True, text=True, timeout=120, check=False)
    check("the command ran to its end", done.stdout == "ran\n", done.stdout)
    check("125, with the file's name", done.returncode == 125 and "cannot write" in done.stderr and
          "rec.data" in done.stderr, done.stderr)
    done = subprocess.run([*inside, REC, "-q", "-F", "max", "-o", "app.pb.gz", "--", *BURN],
                          capture_output=True, text=True, timeout=120, check=False)
    check("a capture that nobody asked for has no name", done.returncode == 125 and
          "beside app.pb.gz" in done.stderr and "/proc" not in done.stderr, done.stderr)
    done = subprocess.run([*inside, REC, "-q", "-F", "max", "--", "sh", "-c", BURN[2] + "; exit 3"],
                          capture_output=True, text=True, timeout=120, check=False)
    check("the command's own status wins", done.returncode == 3, done.stderr)


with tempfile.TemporaryDirectory() as here:
    usual_files(here)
    the_previous_capture_is_kept(here)
    a_link_makes_way_wherever_it_leads(here)
    a_capture_in_use_is_left_alone(here)
    named_outputs(here)
    the_commands_end_is_ours(here)
    nothing_to_sample(here)
    standard_streams_are_the_commands(here)
    a_terminal_gets_the_viewers(here)
    interrupts_go_to_the_command(here)
    files_belong_to_who_called_sudo(here)
    a_full_disk_is_a_failure_of_rec_alone(here)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

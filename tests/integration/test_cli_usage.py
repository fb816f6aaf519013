#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `rec` answers to right and wrong usage: exit status, the stream it speaks on, and that files which
are none of its business stay as they are."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

REC = os.environ["REC"]
failures = []


def rec(*words, cwd, env=None):
    done = subprocess.run([REC, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, env=env)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def content(directory):
    """Every file with its bytes: what must not change."""
    found = {}
    for folder, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


def help_is_short_and_on_the_right_stream(here):
    status, out, err = rec(cwd=here)
    check("rec alone: 125, usage on stderr", status == 125 and not out and "rec report" in err, err)
    status, out, err = rec("--help", cwd=here)
    check("--help: 0, the same on stdout", status == 0 and not err and "rec report" in out, err)
    check("--help: at most 45 lines", len(out.splitlines()) <= 45)
    check("--help: at most 100 columns", max(map(len, out.splitlines())) <= 100)
    check("--help: three examples", out.split("Examples:")[1].count("\n  rec ") >= 3)
    for command in ("convert", "record", "report", "info", "list", "doctor"):
        status, out, err = rec("help", command, cwd=here)
        check(f"help {command}", status == 0 and f"rec {command}" in out.replace("[record]", "record"),
              out + err)
        status, same, err = rec(command, "--help", cwd=here)
        check(f"{command} --help is help {command}", status == 0 and same == out, err)
    status, out, err = rec("--version", cwd=here)
    check("--version", status == 0 and out.startswith("rec ") and "MIT" in out, out + err)


# For options of perf that need one.
VALUES = {"--count": ["1000000"], "--delay": ["10"], "--event": ["cpu-clock"], "--freq": ["99"],
          "--mmap-pages": ["16"], "--output": ["x.data"], "--call-graph": ["dwarf"],
          "--max-size": ["1G"], "--num-thread-synthesize": ["2"], "--proc-map-timeout": ["500"]}

# words -> status, and what the one sentence on stderr must hold
REFUSALS = [
    (["--frobnicate", "--", "true"], 125, "--frobnicate"),
    (["--outptu=x", "--", "true"], 125, "--output"),
    (["record"], 125, "no command"),
    (["record", "--"], 125, "no command"),
    (["-F", "0", "true"], 125, "20000"),
    (["-F", "20001", "true"], 125, "20000"),
    (["-F", "abc", "true"], 125, "abc"),
    (["-F"], 125, "needs a value"),
    (["-c", "1", "true"], 125, "-c"),
    (["-e", "cycle", "true"], 125, "perf list"),
    (["-p", "x"], 125, "-p"),
    (["-p", "1,", "true"], 125, "-p"),
    (["-t", "0"], 125, "-t"),
    (["-a", "-p", "1", "true"], 125, "-a"),
    (["-D", "-1", "true"], 125, "-D -1"),
    (["-b", "true"], 125, "-b"),
    (["-d", "true"], 125, "perf record"),
    (["-u", "no-such-user", "true"], 125, "-u"),
    (["--switch-output=1G", "true"], 125, "--switch-output"),
    (["--engine=magic", "true"], 125, "perf-trap"),
    (["--self-check=0", "true"], 125, "--self-check"),
    (["--fail-on", "--", "true"], 125, "--fail-on"),
    (["--fail-on=anything", "true"], 125, "anything"),
    (["--fail-on=incomplete:", "true"], 125, "incomplete:PERCENT"),
    (["--fail-on=incomplete:101", "true"], 125, "101"),
    (["--fail-on=incomplete:-1", "true"], 125, "-1"),
    (["-o", "missing/new/", "--", "true"], 125, "missing/new/"),
    (["-o", "missing/x.data", "--", "true"], 125, "missing/x.data"),
    (["-o", "missing/x.pb.gz", "--", "true"], 125, "missing/x.pb.gz"),
    (["-o", "a.data", "-o", "b.data", "--", "true"], 125, "a.data"),
    (["-o", "-", "--", "true"], 125, "rec convert"),
    (["--", "no-such-command"], 127, "no-such-command"),
    (["no-such-command"], 127, "no-such-command"),
    (["--", "./no-such-file"], 127, "no-such-file"),
    (["--", "report"], 127, "report"),
    (["-q", "--", "report"], 127, "report"),
    (["-q", "report"], 125, "options of rec report follow its name"),
    (["./plain"], 126, "plain"),
    (["--", "/"], 126, "/"),
    (["reprot"], 127, "rec report"),
    (["help", "reprot"], 125, "report"),
    (["convert"], 125, "-o"),
    (["convert", "-o", "x.xml"], 125, ".folded"),
    (["convert", "-o", "x.data"], 125, ".folded"),
    (["convert", "-o", "-"], 125, "--format"),
    (["convert", "--format", "pprof"], 125, "-o -"),
    (["convert", "--format", "pprof", "-o", "x.pb"], 125, "-o -"),
    (["convert", "--format", "nonsense", "-o", "-"], 125, "pprof"),
    (["convert", "a", "b", "-o", "x.pb"], 125, "a does not exist"),
    (["convert", "missing.data", "-o", "x.pb"], 125, "missing.data"),
    (["convert", "plain", "-o", "x.pb"], 125, "plain"),
    (["convert", "empty", "-o", "x.pb"], 125, "empty"),
    (["convert", ".", "-o", "x.pb"], 125, "."),
    (["report", "missing.data"], 125, "missing.data"),
    (["report", "plain"], 125, "plain"),
    (["report", "--jsn"], 125, "--json"),
    (["report", "-g", "--stdio"], 125, "perf report"),
    (["report", "--stdio", "--no-children", "--sort=dso"], 125, "perf report"),
    (["report", "empty"], 125, "empty"),
    (["info", "missing.data"], 125, "missing.data"),
    (["info", "-i", "plain"], 125, "plain"),
    (["info", "--nonsense"], 125, "--nonsense"),
    (["list", "memory"], 125, "cpu"),
    (["list", "./plain"], 125, "`rec -- list …`"),
    (["list", "--jsn"], 125, "--json"),
    (["--", "list"], 127, "list"),
    (["doctor", "now"], 125, "no arguments"),
]


def every_option_of_perf_record_is_taken_or_refused_by_name(here):
    if not shutil.which("perf"):
        return
    text = subprocess.run(["perf", "record", "-h"], capture_output=True, text=True, timeout=60,
                          cwd=here)
    found = re.findall(r"^ +(?:(-\w), )?(-\w|--[a-z-]+)", text.stdout + text.stderr, re.M)
    check("perf record -h lists its options", len(found) > 50, text.stdout + text.stderr)
    for letter, name in found:
        value = VALUES.get(name, [])
        for form in filter(None, (letter, name)):
            _, _, err = rec("record", form, *value, "--no-such-option", cwd=here)
            check(f"perf record {form}",
                  "--no-such-option" in err or err.startswith(f"rec: {form}"), err)


def refusals_are_one_sentence_and_touch_nothing(here):
    before = content(here)
    for words, expected, sentence in REFUSALS:
        status, out, err = rec(*words, cwd=here)
        shown = " ".join(words)
        check(f"{shown}: status {expected}", status == expected, f"{status} {err}")
        check(f"{shown}: says '{sentence}'", sentence in err, err)
        check(f"{shown}: one line", err.startswith("rec: ") and err.count("\n") == 1, err)
        check(f"{shown}: nothing on stdout", not out, out)
        after = content(here)
        check(f"{shown}: files untouched", after == before, sorted(set(after) ^ set(before)))


def a_read_only_directory_is_noticed_before_the_start(here):
    closed = os.path.join(here, "closed")
    os.mkdir(closed, 0o555)
    if os.access(closed, os.W_OK):
        print("not checked: this user may write everywhere")
    else:
        status, _, err = rec("--", "touch", os.path.join(here, "started"), cwd=closed)
        check("read-only directory: 125", status == 125 and "rec.data" in err, err)
        check("read-only directory: not started", not os.path.exists(os.path.join(here, "started")))
    os.rmdir(closed)


def doctor_says_eighteen_lines(here):
    status, out, err = rec("doctor", cwd=here)
    check("doctor: eighteen lines", status == 0 and len(out.splitlines()) == 18 and not err, out + err)


def a_capture_that_was_never_made_is_asked_for():
    with tempfile.TemporaryDirectory() as empty:
        for words in (["report"], ["info"], ["convert", "-o", "x.pb"]):
            status, _, err = rec(*words, cwd=empty)
            check(f"{words[0]} without a capture", status == 125 and "rec -- COMMAND" in err, err)


def doctor_promises_no_more_than_the_kernel_allows(here):
    limit = "/proc/sys/kernel/perf_event_max_sample_rate"
    if not os.path.exists(limit):
        return
    with open(limit, encoding="ascii") as file:
        allowed = int(file.read())  # which the kernel may lower, but never raises by itself
    out = rec("doctor", cwd=here)[1]
    rate = re.search(r"up to (\d+) samples", out)
    check("doctor: no more than the kernel allows", not rate or int(rate[1]) <= allowed, out)


def operands_that_name_a_program_give_the_command_to_record_it(here):
    programs = os.path.join(here, "programs")
    os.mkdir(programs)
    for name in ("convert", "info", "other"):
        with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho ran > ran\n")
        os.chmod(file.name, 0o755)
    with open(os.path.join(here, "in.png"), "w", encoding="utf-8") as file:
        file.write("a picture")
    with open(os.path.join(here, "short.data"), "wb") as file:
        file.write(b"PERFILE2 and damage")
    with_programs = {**os.environ, "PATH": programs + ":/usr/bin:/bin"}
    without = {**os.environ, "PATH": here}
    before = content(here)
    for words, environment, hint in (
            (("convert", "in.png", "out.jpg"), with_programs, "`rec -- convert …`"),
            (("convert", "in.png", "-o", "out.folded"), with_programs, "`rec -- convert …`"),
            (("convert", "in.png", "-resize", "50%"), with_programs, "`rec -- convert …`"),
            (("info", "bash"), with_programs, "`rec -- info …`"),
            (("report", "other"), with_programs, "`rec -- other`"),
            (("report", "./programs/other"), without, "`rec -- ./programs/other`"),
            (("convert", "in.png", "out.jpg"), without, None),
            (("info", "in.png"), without, None),
            (("info", "short.data"), with_programs, None),
            (("report", "."), with_programs, None),
            (("info",), with_programs, None)):
        status, out, err = rec(*words, cwd=here, env=environment)
        check(f"rec {' '.join(words)} fails with one line", (status, out) == (125, "") and err.count("\n") == 1,
              (status, out, err))
        check(f"rec {' '.join(words)} gives {hint}", hint in err if hint else "rec -- " not in err.replace("rec -- COMMAND", ""),
              err)
    check("nothing was run or written", content(here) == before)
    status, _, err = rec("-q", "-o", "out.folded", "--", "convert", "in.png", cwd=here, env=with_programs)
    check("the command records the program", status == 0 and os.path.exists(os.path.join(here, "ran")), err)


def output_that_cannot_be_written_is_a_failure(here):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([REC, "--help"], stdout=full, stderr=subprocess.PIPE, cwd=here,
                              check=False)
    check("--help to a full device: 125", done.returncode == 125, done.stderr)


with tempfile.TemporaryDirectory() as here:
    with open(os.path.join(here, "plain"), "w", encoding="utf-8") as file:
        file.write("this is no capture\n" * 50)
    with open(os.path.join(here, "rec.data"), "wb") as file:
        file.write(b"somebody's work")
    with open(os.path.join(here, "empty"), "wb"):
        pass
    help_is_short_and_on_the_right_stream(here)
    refusals_are_one_sentence_and_touch_nothing(here)
    every_option_of_perf_record_is_taken_or_refused_by_name(here)
    a_read_only_directory_is_noticed_before_the_start(here)
    doctor_says_eighteen_lines(here)
    doctor_promises_no_more_than_the_kernel_allows(here)
    a_capture_that_was_never_made_is_asked_for()
    operands_that_name_a_program_give_the_command_to_record_it(here)
    output_that_cannot_be_written_is_a_failure(here)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

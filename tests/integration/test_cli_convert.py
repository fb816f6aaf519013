#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""convert, report and info on a capture of a program that is known: its three threads, its recursion, its
inlined calls; then without the program, damaged, and recorded by perf."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

REC, SOURCE = os.environ["REC"], os.environ["SOURCE"]
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def run(*words, cwd, text=True):
    return subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=text,
                          timeout=120, check=False)


def rec(*words, cwd, text=True):
    return run(REC, *words, cwd=cwd, text=text)


def build_example(here):
    examples = f"{SOURCE}/examples"
    subprocess.run(["gcc", "-O2", "-g", "-c", f"{examples}/queens.c", "-o", "queens.o"], cwd=here,
                   check=True)
    subprocess.run(["g++", "-O2", "-g", "-pthread", f"{examples}/tour.cc", "queens.o", "-o", "tour"],
                   cwd=here, check=True)


def folded(text):
    """{stack: weight} of collapsed stacks."""
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def every_format_by_name_and_by_pipe(here):
    done = rec("convert", "-o", "a.folded", "-o", "a.pb.gz", "-o", "a.pb", "-o", "a.json.gz",
               "-o", "a.speedscope.json", cwd=here)
    check("convert", done.returncode == 0, done.stderr)
    check("says which file and how old", "rec.data (" in done.stderr and " old)" in done.stderr,
          done.stderr)
    for name, file in (("collapsed", "a.folded"), ("pprof", "a.pb"),
                       ("speedscope", "a.speedscope.json")):
        done = rec("convert", "-i", "rec.data", "-o", "-", "--format", name, cwd=here, text=False)
        with open(f"{here}/{file}", "rb") as written:
            check(f"{name} through a pipe is the same", done.stdout == written.read(), done.stderr)
    apart = folded(rec("convert", "--threads", "-o", "-", "--format", "collapsed", cwd=here).stdout)
    with open(f"{here}/a.folded", encoding="utf-8") as file:
        together = folded(file.read())
    check("--threads keeps the sum", sum(apart.values()) == sum(together.values()))
    names = {re.sub(r"-\d+", "", ";".join(stack.split(";")[:2])) for stack in apart}
    check("stacks begin with process and thread", {"tour;queens", "tour;words"} <= names, names)
    with gzip.open(f"{here}/a.pb.gz") as packed, open(f"{here}/a.pb", "rb") as plain:
        check("gzip changes nothing", packed.read() == plain.read())
    with gzip.open(f"{here}/a.json.gz") as file:
        threads = {thread["name"] for thread in json.load(file)["threads"]}
    check("Firefox's file has the threads", {"queens", "mandel", "words"} <= threads, threads)
    os.mkdir(f"{here}/set")
    done = rec("convert", "-q", "-o", "set/", cwd=here)
    check("-o DIR/", sorted(os.listdir(f"{here}/set")) == ["rec.folded", "rec.json.gz", "rec.pb.gz"],
          done.stderr)
    shutil.rmtree(f"{here}/set")


def report_adds_up(here):
    done = rec("report", "--json", cwd=here)
    report = json.loads(done.stdout)
    check("report --json: version", report["version"] == 1 and report["file"] == "rec.data")
    functions = {function["name"].split("(")[0]: function for function in report["functions"]}
    total = report["total_ns"]
    check("self times add up to the total",
          sum(function["self_ns"] for function in report["functions"]) == total)
    check("a recursive function counts once a stack",
          functions["place_row"]["total_ns"] <= functions["queens_solutions"]["total_ns"] <= total,
          functions.get("place_row"))
    check("most self time first", all(a["self_ns"] >= b["self_ns"] for a, b in
                                      zip(report["functions"], report["functions"][1:])))
    roots = sum(call["total_ns"] for call in report["calls"] if call["caller"] == -1)
    check("the threads' roots add up to the total", roots == total, f"{roots} {total}")
    for index, call in enumerate(report["calls"]):
        if call["caller"] >= index:
            check("callers come first", False, call)
            break
    stacks = folded(rec("convert", "-o", "-", "--format", "collapsed", cwd=here).stdout)
    by_hand = sum(weight for stack, weight in stacks.items() if "queens_solutions" in stack)
    share = by_hand / sum(stacks.values())
    check("the same share in collapsed stacks",
          abs(share - functions["queens_solutions"]["total_ns"] / total) < 0.01, share)


def report_fits_a_screen_and_a_half(here):
    done = rec("report", cwd=here)
    lines = done.stdout.splitlines()
    check("report names file and age", lines[0].startswith("rec.data, ") and " old: " in lines[0],
          lines[0])
    check("report shows functions and places", "place_row" in done.stdout and
          "queens.c:" in done.stdout and "tour.cc:" in done.stdout, done.stdout)
    check("a screen and a half", len(lines) <= 75 and max(map(len, lines)) <= 165, len(lines))
    check("same as -i FILE", rec("report", "-i", "rec.data", cwd=here).stdout.splitlines()[1:] ==
          lines[1:])


def info_knows_the_recording(here):
    info = json.loads(rec("info", "--json", cwd=here).stdout)
    check("info: version", info["version"] == 1)
    check("info: threads", {"queens", "mandel", "words"} <= {t["name"] for t in info["threads"]},
          info["threads"])
    check("info: one process", len(info["processes"]) == 1 and
          info["processes"][0]["samples"] == info["samples"], info["processes"])
    check("info: the program's build-id", any(module["path"].endswith("/tour") and
                                              len(module["build_id"]) == 40
                                              for module in info["modules"]), info["modules"])
    notes = info["notes"]
    check("info: the summary of the recording", int(notes["samples"]) > 100 and
          notes["engine"] in ("perf-trap", "timer"), notes)
    check("info: CPU time agrees with the kernel's",
          abs(int(notes["cpu_billed_ns"]) - info["cpu_ns"]) < 0.02 * info["cpu_ns"], notes)
    done = rec("info", cwd=here)
    check("info as text", done.returncode == 0 and "queens" in done.stdout and
          "cpu_billed_ns" in done.stdout, done.stdout)


def names_stay_without_the_program(here):
    before = rec("convert", "-o", "-", "--format", "collapsed", cwd=here).stdout
    os.rename(f"{here}/tour", f"{here}/elsewhere")
    after = rec("convert", "-o", "-", "--format", "collapsed", cwd=here).stdout
    os.rename(f"{here}/elsewhere", f"{here}/tour")
    check("a capture keeps its names", before == after and "place_row" in after)


def damage_is_said_and_never_fatal(here):
    size = os.path.getsize(f"{here}/rec.data")
    with open(f"{here}/rec.data", "rb") as file:
        content = file.read()
    for length in (1, 8, 50, 104, 200, 1000, size // 3, size // 2, size - 1000, size - 1):
        with open(f"{here}/cut.data", "wb") as file:
            file.write(content[:length])
        for words in (["convert", "cut.data", "-q", "-o", "cut.folded"], ["report", "cut.data"],
                      ["info", "cut.data", "--json"]):
            done = rec(*words, cwd=here)
            shown = f"{words[0]} of {length} bytes of {size}"
            check(f"{shown}: ends by itself", done.returncode in (0, 125), done.returncode)
            check(f"{shown}: refuses in words", done.returncode == 0 or
                  done.stderr.startswith("rec: ") and "cut.data" in done.stderr, done.stderr)
    os.unlink(f"{here}/cut.data")
    with open(f"{here}/closed.data", "wb") as file:
        os.fchmod(file.fileno(), 0)
    if not os.access(f"{here}/closed.data", os.R_OK):
        done = rec("report", "closed.data", cwd=here)
        check("an unreadable file is named", done.returncode == 125 and "closed.data" in done.stderr)
    os.unlink(f"{here}/closed.data")


def what_has_no_end_is_not_kept(here):
    """A device, or a pipe of something else, is refused by its first bytes: it would fill the disk."""
    for device in ("/dev/zero", "/dev/null"):
        done = run("prlimit", "--fsize=1000000", REC, "report", device, cwd=here)
        check(f"{device} is refused by name", done.returncode == 125 and
              done.stderr.startswith(f"rec: {device} is "), (done.returncode, done.stderr))
        check(f"{device} is not opened", "neither a file nor a pipe" in done.stderr, done.stderr)
    done = run("sh", "-c", "yes | prlimit --fsize=1000000 $0 report -", REC, cwd=here)
    check("a pipe of something else", done.returncode == 125 and
          "is not a perf.data file" in done.stderr, (done.returncode, done.stderr))
    slowly = "(head -c 3 rec.data; sleep 0.1; tail -c +4 rec.data) | $0 info --json -"
    done = run("sh", "-c", slowly, REC, cwd=here)
    check("a pipe that begins slowly", done.returncode == 0 and "queens" in done.stdout, done.stderr)


def what_does_not_fit_is_said_once(here):
    done = run("sh", "-c", "trap '' XFSZ; exec prlimit --fsize=100 $0 convert -q -o large.json", REC, cwd=here)
    check("a file that is too large", (done.returncode, done.stderr) ==
          (125, "rec: large.json: cannot write the firefox output: File too large\n"), done.stderr)
    check("is not left behind", not os.path.exists(f"{here}/large.json"))


def perf_files_are_welcome(here):
    if not shutil.which("perf"):
        print("not checked: perf is not installed")
        return
    done = run("perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-o", "perf.data", "./tour", cwd=here)
    if done.returncode != 0:
        print(f"not checked: perf cannot record here: {done.stderr.splitlines()[:1]}")
        return
    done = rec("report", "perf.data", cwd=here)
    check("report of perf's file", done.returncode == 0 and "place_row" in done.stdout, done.stderr)
    done = rec("info", "perf.data", cwd=here)
    check("info of perf's file", done.returncode == 0 and "queens" in done.stdout, done.stderr)
    done = rec("convert", "perf.data", "-q", "-o", "perf.pb.gz", cwd=here)
    check("convert of perf's file", done.returncode == 0 and not done.stderr, done.stderr)
    total = sum(total_ns(here, file) for file in ("rec.data", "perf.data"))
    check("CPU time of rec and perf adds up", total_ns(here, "rec.data", "perf.data") == total, total)


def total_ns(here, *files):
    return json.loads(rec("report", "--json", *files, cwd=here).stdout)["total_ns"]


def several_captures_add_up(here):
    done = rec("-q", "-o", "second.data", "--", "./tour", cwd=here)
    check("a second recording", done.returncode == 0, done.stderr)
    total = total_ns(here, "rec.data") + total_ns(here, "second.data")
    check("report adds up", total_ns(here, "rec.data", "second.data") == total, total)
    done = rec("convert", "-q", "rec.data", "second.data", "-o", "both.json.gz", "-o", "both.folded", cwd=here)
    check("convert of two", done.returncode == 0, done.stderr)
    stacks = folded(rec("convert", "rec.data", "second.data", "-o", "-", "--format", "collapsed", cwd=here).stdout)
    one, two = (folded(rec("convert", file, "-o", "-", "--format", "collapsed", cwd=here).stdout)
                for file in ("rec.data", "second.data"))
    # Each of the three counts is rounded to a neighbouring integer.
    wrong = {stack for stack in stacks | one | two
             if abs(stacks.get(stack, 0) - one.get(stack, 0) - two.get(stack, 0)) > 2}
    check("counts of stacks add up", not wrong, wrong)
    with gzip.open(f"{here}/both.json.gz") as file:
        profile = json.load(file)
    mains = sorted(profile["threads"], key=lambda thread: thread["registerTime"])
    starts = [profile["meta"]["startTime"] / 1000 + thread["registerTime"] / 1000 for thread in mains]
    ends = [os.stat(f"{here}/{file}").st_mtime for file in ("rec.data", "second.data")]
    check("each has its own wall-clock time", starts[0] < ends[0] < starts[-1] < ends[1], (starts, ends))
    done = rec("report", "rec.data", "./rec.data", cwd=here)
    check("a capture counts once", done.returncode == 125 and len(done.stderr.splitlines()) == 1 and
          "are the same file" in done.stderr, done.stderr)
    done = run("sh", "-c", "$0 report rec.data - < second.data", REC, cwd=here)
    check("a pipe beside a file", done.returncode == 0 and "and 1 other" in done.stdout, done.stderr)
    os.unlink(f"{here}/second.data")


with tempfile.TemporaryDirectory() as here:
    build_example(here)
    recorded = rec("-q", "-o", "rec.data", "--", "./tour", cwd=here)
    check("recorded", recorded.returncode == 0, recorded.stderr)
    every_format_by_name_and_by_pipe(here)
    report_adds_up(here)
    several_captures_add_up(here)
    report_fits_a_screen_and_a_half(here)
    info_knows_the_recording(here)
    names_stay_without_the_program(here)
    damage_is_said_and_never_fatal(here)
    what_has_no_end_is_not_kept(here)
    what_does_not_fit_is_said_once(here)
    perf_files_are_welcome(here)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

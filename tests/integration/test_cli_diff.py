#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""rec diff: a function that a parameter makes slower is found, unchanged runs are not, and captures that cannot be
compared are refused in a line. Changes are large, for a busy machine; tests/bench/compare measures small ones."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import browser

REC, SOURCE = os.environ["REC"], os.environ["SOURCE"]
failures = []


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def rec(*words, cwd):
    return subprocess.run([REC, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False)


def build_slowed(here):
    """With a third of its rounds."""
    with open(f"{SOURCE}/tests/bench/slowed.c", encoding="utf-8") as source, \
            open(f"{here}/slowed.c", "w", encoding="utf-8") as fewer:
        fewer.write(source.read().replace("ROUNDS = 400", "ROUNDS = 130"))
    subprocess.run(["cc", "-O1", "-g", "-o", "slowed", "slowed.c"], cwd=here, check=True)


def record(here, directory, runs, program, *arguments):
    done = rec("-q", "-F", "999", "--repeat", str(runs), "-o", directory, "--", program, *arguments, cwd=here)
    check(f"recorded {directory}", done.returncode == 0, done.stderr)


def compare(here, *words):
    done = rec("diff", "--json", *words, cwd=here)
    check(f"diff {words}", done.returncode in (0, 1), done.stderr)
    return done.returncode, json.loads(done.stdout)


def row(result, name):
    return next((row for row in result["functions"] if row["name"] == name), {"verdict": "missing"})


def refused(here, what, text, *words):
    done = rec("diff", *words, cwd=here)
    check(what, done.returncode == 125 and len(done.stderr.splitlines()) == 1 and text in done.stderr and
          not done.stdout, (done.returncode, done.stdout, done.stderr))


def a_slower_function_is_found(here):
    status, result = compare(here, "base", "slow/")
    check("a regression is status 1", status == 1 and result["fails"] is True, status)
    check("the function has grown", row(result, "seventh")["verdict"] == "grown", row(result, "seventh"))
    check("the new function is new", row(result, "added")["verdict"] == "new", row(result, "added"))
    seventh = row(result, "seventh")
    check("within its interval", seventh["low"] < seventh["difference"] < seventh["high"] and seventh["p"] < 0.05, seventh)
    sides = {side: [json.loads(rec("report", "--json", path, cwd=here).stdout) for path in result[side]]
             for side in ("base", "new")}
    for key, side in (("before", "base"), ("after", "new")):
        mean = sum(report["total_ns"] for report in sides[side]) / len(sides[side])
        check(f"total {key} is that of rec report", abs(result["total"][key] - mean) < 1, (result["total"], mean))
    status, result = compare(here, "slow", "base")
    check("a decrease is no regression", status == 0 and row(result, "added")["verdict"] == "removed",
          (status, row(result, "added")))
    for option, expected in (("regression", 0), ("change", 1), ("never", 0)):
        status, _ = compare(here, "slow", "base", "--fail-on", option)
        check(f"--fail-on {option}", status == expected, status)


def the_text_ends_with_the_largest_growth(here):
    base, slow = (sorted(f"{name}/{file}" for file in os.listdir(f"{here}/{name}")) for name in ("base", "slow"))
    done = rec("diff", *base, "--", *slow, "--total", cwd=here)
    check("options may follow", done.returncode == 1, done.stderr)
    done = rec("diff", *base, "--", *slow, cwd=here)
    lines = done.stdout.splitlines()
    check("the last line names function and growth", re.fullmatch(
        r"rec diff: largest growth: \+[0-9.]+ ms per run \((\+[0-9.]+ %\) in seventh|new\) in added) of slowed", lines[-1]), lines[-1])
    check("both sides", lines[0].endswith("3 runs") and lines[1].endswith("3 runs"), lines[:2])


def unchanged_runs_are_no_regression(here):
    status, result = compare(here, "base", "same", "--threshold", "25")
    check("unchanged", status == 0 and result["total"]["verdict"] == "noise", result["total"])
    status, result = compare(here, "base", "same", "--threshold", "25", "--by", "share")
    check("by share", result["unit"] == "share" and abs(result["total"]["after"] - 1) < 1e-9, result["total"])
    shares = sum(row["after"] for row in result["functions"])
    check("shares add up to 1", abs(shares - 1) < 1e-6, shares)
    status, result = compare(here, "base", "same", "--lines", "--threshold", "25")
    check("lines", any(row["file"] == "slowed.c" and row["line"] > 0 for row in result["lines"] if "file" in row),
          result["lines"][:3])


def one_run_each_fails_only_with_noise(here):
    one = ["base/run-01.data", "slow/run-01.data"]
    status, result = compare(here, *one)
    check("no verdict", status == 0 and row(result, "seventh")["verdict"] == "one run each", row(result, "seventh"))
    status, result = compare(here, *one, "--noise", "3")
    check("a verdict by --noise", status == 1 and row(result, "seventh")["verdict"] == "grown", row(result, "seventh"))
    refused(here, "--noise is for single runs", "--noise is for one run on each side", "base", "slow", "--noise", "3")


def a_renamed_program_is_the_same_program(here):
    shutil.copy(f"{here}/slowed", f"{here}/slowed.new")
    record(here, "renamed/", 1, "./slowed.new", "100", "400", "20")
    _, result = compare(here, "base/run-01.data", "renamed/run-01.data")
    half = row(result, "half")
    check("functions match", half["before"] > 0 and half["after"] > 0, half)


def pictures_have_the_shape_of_the_new_side(here):
    _, result = compare(here, "base", "slow", "-o", "d.svg", "-o", "d.html")
    with open(f"{here}/d.svg", encoding="utf-8") as file:
        picture = file.read()
    boxes = dict(re.findall(r"<g><title>(\w+)\n.*?</title><rect[^>]* fill=\"(#\w+)\"", picture, re.S))
    check("grown is red, new is yellow", boxes["seventh"] in ("#f6b3ab", "#ef8378", "#e05243") and boxes["added"] == "#f6d743",
          boxes)
    check("noise is grey", row(result, "other_a")["verdict"] != "noise" or boxes["other_a"] == "#dfe3e8", boxes)
    check("no script", "<script" not in picture)
    compare(here, "slow", "base", "-o", "back.svg")
    with open(f"{here}/back.svg", encoding="utf-8") as file:
        check("removed functions are listed", re.search(r">removed: added of slowed, [0-9.]+ ms<", file.read()))
    with open(f"{here}/d.html", encoding="utf-8") as file:
        data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', file.read(), re.S).group(1))
    for weights, key in ((sum(sum(one["weights"]) for one in data["lists"]), "after"),
                         (sum(data["diff"]["before"]["weights"]), "before")):
        check(f"the page's sum {key}", abs(weights - result["total"][key]) < 1e6, (weights, result["total"]))
    names = [data["strings"][index] for index in data["functions"]["name"]]
    changes = dict(zip(names, data["diff"]["changes"]))
    check("the page has the verdicts", (changes["seventh"], changes["added"]) == (1, 2), changes)


def the_page_shows_the_change(here):
    if not browser.CHROMIUM:
        print("not checked: chromium is not installed")
        return
    _, result = compare(here, "slow", "base", "-o", "back.html")
    page, messages = browser.dump(f"file://{here}/back.html#view=functions")
    check("no message", not messages, messages)
    shown = {name: float(weight) for weight, name in re.findall(
        r'data-weight="(-?[0-9.e-]+)" title="[a-z ]+"[^>]*>[^<]*</td>.*?<button title="(\w+)">', page)}
    check("the change of a function", abs(shown["seventh"] - row(result, "seventh")["difference"]) < 1e6, shown)
    check("removed functions", re.search(r'<table[^>]*id="removed".*>added<', page, re.S), page[-2000:])


def captures_that_cannot_be_compared_are_refused(here):
    refused(here, "one side", "two sides", "base")
    refused(here, "no base", "two sides", "--", "base", "slow")
    refused(here, "the same file", "are the same file", "base/run-01.data", "./base/run-01.data")
    refused(here, "a file of both sides", "are the same file", "base", "--", "slow", "base/run-01.data")
    refused(here, "a missing file", "nosuch.data", "base", "nosuch.data")
    refused(here, "no samples", "has no samples", "base", "same", "--comm", "nosuch")
    refused(here, "a format without differences", "no format for differences", "base", "same", "-o", "d.speedscope.json")
    refused(here, "lines have no file", "--lines", "base", "same", "--lines", "-o", "d.folded")
    refused(here, "no file without a comparison", "has no samples", "base", "same", "--comm", "nosuch", "-o", "d.folded")
    check("no partial output", not os.path.exists(f"{here}/d.folded"))
    refused(here, "what --by takes", "time or share", "base", "same", "--by", "size")
    with open(f"{here}/base/run-01.data", "rb") as file:
        capture = file.read()
    model = re.search(rb"model name\s*: (.*)", open("/proc/cpuinfo", "rb").read()).group(1)
    check("the capture names the CPU", model in capture, model)
    with open(f"{here}/elsewhere.data", "wb") as file:
        file.write(capture.replace(model, b"Z" * len(model)))
    refused(here, "another machine", "from another machine (ZZ", "base/run-02.data", "elsewhere.data")
    done = rec("diff", "base/run-02.data", "elsewhere.data", "--by", "share", cwd=here)
    check("another machine by share", done.returncode == 0, done.stderr)
    with open(f"{here}/other.c", "w", encoding="utf-8") as file:
        file.write("int spin(void) { volatile int i = 0; while (i < 100000000) i++; return i; }\n"
                   "int main(void) { return spin() == 0; }\n")
    subprocess.run(["cc", "-O1", "-o", "other", "other.c"], cwd=here, check=True)
    record(here, "others/", 1, "./other")
    refused(here, "another program", "no function in common", "base/run-01.data", "others")
    done = rec("-q", "-F", "500", "-o", "rate.data", "--", "./slowed", cwd=here)
    done = rec("diff", "base/run-01.data", "rate.data", cwd=here)
    check("another period is mentioned", done.returncode == 0 and "another sampling period" in done.stderr, done.stderr)


def other_events_are_refused(here):
    perf = shutil.which("perf")
    done = subprocess.run([perf, "record", "-q", "-e", "page-faults", "-c", "1", "-o", "faults.data", "./slowed"],
                          cwd=here, capture_output=True, text=True, check=False) if perf else None
    if not done or done.returncode != 0:
        print("not checked: perf cannot record page faults here")
        return
    refused(here, "another event", "page-faults", "base/run-01.data", "faults.data")


with tempfile.TemporaryDirectory() as here:
    build_slowed(here)
    record(here, "base/", 3, "./slowed")
    record(here, "same/", 3, "./slowed")
    record(here, "slow/", 3, "./slowed", "100", "400", "20")
    a_slower_function_is_found(here)
    the_text_ends_with_the_largest_growth(here)
    unchanged_runs_are_no_regression(here)
    one_run_each_fails_only_with_noise(here)
    a_renamed_program_is_the_same_program(here)
    pictures_have_the_shape_of_the_new_side(here)
    the_page_shows_the_change(here)
    captures_that_cannot_be_compared_are_refused(here)
    other_events_are_refused(here)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

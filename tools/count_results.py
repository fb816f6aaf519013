#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up ctest's result files: skipped and failed tests by name, with skipped parts of tests, then one line of counts.

    count_results.py BROKEN-STEPS RESULTS.xml...

Beside each file, NAME-again.xml may hold the second try of those that failed.

Exit status 1 when anything failed. A result file that is missing is a failure of its own: the steps
that never ran must not look like success.
"""
import os
import re
import sys
import xml.etree.ElementTree as ET


def outcome(case):
    skipped = case.find("skipped")
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    if skipped is not None and skipped.get("message", "").startswith("Unable to find"):
        return "failed"  # it was not built
    return "skipped" if skipped is not None else "passed"


def reason(case):
    """Why a test was skipped: its last line, which says what it missed."""
    text = (case.findtext("system-out") or "").strip().splitlines()
    return text[-1].strip() if text else "no reason given"


def skipped_parts(case):
    """Of a test that ran: its parts that were skipped, as tests/integration/rec.py and cmocka name them."""
    text = case.findtext("system-out") or ""
    return (re.findall(r"(?m)^skipped __main__\.(.*)$", text) +
            sorted(set(re.findall(r"(?m)^\[  SKIPPED \] (\w+)$", text))))


def outcomes(path):
    """Of each test: (its name, its last outcome, its element, whether it needed a second try)."""
    again = path.replace(".xml", "-again.xml")
    tries = {}
    for file in (path, again) if os.path.exists(again) else (path,):
        for case in ET.parse(file).getroot().iter("testcase"):
            tries.setdefault(case.get("name"), []).append(case)
    return [(name, outcome(cases[-1]), cases[-1], len(cases) > 1) for name, cases in tries.items()]


def main():
    broken, files = sys.argv[1].strip(), sys.argv[2:]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in files:
        if not os.path.exists(path):
            print(f"failed: {path} was never written")
            counts["failed"] += 1
            continue
        build = os.path.basename(os.path.dirname(path))
        for name, result, case, is_second_try in outcomes(path):
            parts = skipped_parts(case) if result == "passed" else []
            counts[result] += 1
            counts["skipped"] += len(parts)
            for part in parts:
                print(f"skipped: {name} ({build}): {part}")
            if result == "skipped":
                print(f"skipped: {name} ({build}): {reason(case)}")
            elif result == "failed":
                print(f"failed: {name} ({build})")
            elif is_second_try:
                print(f"passed at the second try: {name} ({build})")
    if broken:
        print(f"failed steps: {broken}")
    if broken and counts["failed"] == 0:
        counts["failed"] = 1
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] else 0


sys.exit(main())

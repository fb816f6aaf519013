#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every text file of the tree: a licence line, no blanks at line ends, no tabs, a final newline,
no leftover notes, no path of somebody's machine.

    check_text.py [ROOT]

Prints path:line: what is wrong. Exit status 1 when something is.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

NEEDS_LICENCE = re.compile(r"(\.(c|h|cc|cpp|py|sh|cmake|js|mjs|s|S)|(^|/)CMakeLists\.txt)$")
GENERATED = re.compile(r"(^|/)(package-lock\.json|node_modules/.*)$")
DATA = re.compile(r"(^|/)(data|corpus|fixtures)/")

# Written in two halves so that this file passes its own check.
PER_LINE = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"), "a leftover note"),
    (re.compile(r"(^|[\s\"'(=:])/(ho" r"me|Use" r"rs)/\w+/|/wo" r"rk/|(^|[\s\"'(=:])/ro" r"ot/"),
     "a path of somebody's machine"),
    (re.compile(r"[ \t]+$"), "blanks at the end"),
    (re.compile(r"\t"), "a tab"),
]


def tree_files(root):
    """Files under version control, and new ones that are not ignored; every file where git is not."""
    try:
        listed = subprocess.run(
            ["git", "-C", root, "-c", f"safe.directory={root}", "ls-files", "-z", "--cached",
             "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout
        return sorted(name for name in listed.decode().split("\0") if name)
    except (OSError, subprocess.CalledProcessError):
        return sorted(str(path.relative_to(root)) for path in Path(root).rglob("*")
                      if path.is_file() and not re.match(r"(build|\.git)", str(path.relative_to(root))))


def check(name, data):
    if b"\0" in data or DATA.search(name) or GENERATED.search(name):
        return []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return [f"{name}: not UTF-8"]
    lines = text.split("\n")
    wrong = []
    needs_licence = NEEDS_LICENCE.search(name) or lines[0].startswith("#!")
    if needs_licence and not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        wrong.append(f"{name}:1: no SPDX line")
    if text and not text.endswith("\n"):
        wrong.append(f"{name}:{len(lines)}: no newline at the end")
    for number, line in enumerate(lines, 1):
        wrong += [f"{name}:{number}: {what}" for pattern, what in PER_LINE if pattern.search(line)]
    return wrong


def main():
    root = str(Path(sys.argv[1] if len(sys.argv) > 1 else
                    Path(__file__).resolve().parent.parent).resolve())
    wrong = []
    names = [name for name in tree_files(root)
             if os.path.isfile(os.path.join(root, name))
             and not os.path.islink(os.path.join(root, name))]
    for name in names:
        wrong += check(name, Path(root, name).read_bytes())
    if not names:
        wrong.append(f"no files below {root}")
    print("\n".join(wrong) if wrong else f"{len(names)} files are in order")
    return 1 if wrong else 0


sys.exit(main())

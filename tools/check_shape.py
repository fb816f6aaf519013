#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the shape of src and formats: entries of a folder, width of lines, headers, parameters, size of the sampler.

    check_shape.py [--figures]

A figure above its limit is listed in KNOWN with its present value: figures there only shrink, none is added.
--figures prints the table as it has to be. Exit status 1 when a figure is above.
"""
import collections
import pprint
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_ENTRIES = 25
MOST_COLUMNS = 100
MOST_PARAMETERS = 6
MOST_SAMPLER_LINES = 4000  # of code, without the hooks of other recorders
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FUNCTION = re.compile(r"^[a-z][\w \*]*?\b(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\{", re.M)
KNOWN = {
    "entries": {
    },
    "wide lines": {
    },
    "parameters": {
        "src/view": 1,  # a callback of libmicrohttpd
    },
}


def layer_of(path):
    return "/".join(path.relative_to(ROOT).parts[:2])


def folders():
    for root in ("src", "formats"):
        yield from sorted(p for p in (ROOT / root).rglob("*") if p.is_dir())


def sources():
    for root in ("src", "formats"):
        yield from sorted((ROOT / root).rglob("*.[ch]"))


def count_parameters(text):
    depth, count = 0, 1 if text.strip() not in ("", "void") else 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        count += letter == "," and depth == 0
    return count


def sampler_lines():
    """Lines of code that every recorded program carries: neither blank nor comment."""
    return sum(bool(line.strip()) for path in sorted((ROOT / "src/sampler").rglob("*.[ch]"))
               if path.parent.name != "recorders"
               for line in COMMENT.sub("", path.read_text(encoding="utf-8")).splitlines())


def figures():
    found = {name: collections.Counter() for name in ("entries", "wide lines", "headers", "parameters")}
    found["sampler lines"] = {"src/sampler": max(0, sampler_lines() - MOST_SAMPLER_LINES)}
    for folder in folders():
        entries = len(list(folder.iterdir()))
        if entries > MOST_ENTRIES:
            found["entries"][str(folder.relative_to(ROOT))] = entries
    for path in sources():
        text = path.read_text(encoding="utf-8")
        layer = layer_of(path)
        found["wide lines"][layer] += sum(len(line) > MOST_COLUMNS for line in text.splitlines())
        if path.suffix != ".c":
            continue
        header = path.with_name(path.stem.removesuffix("_absent") + ".h")
        if layer in ("src/sampler", "src/record") and not header.exists():
            found["headers"][layer] += 1
        for match in FUNCTION.finditer(text):
            found["parameters"][layer] += count_parameters(match.group(2)) > MOST_PARAMETERS
    return {name: {place: n for place, n in sorted(counts.items()) if n}
            for name, counts in found.items()}


def main():
    found = figures()
    if sys.argv[1:] == ["--figures"]:
        pprint.pprint(found)
        sys.exit(0)
    failed = False
    for name, counts in found.items():
        for place, count in counts.items():
            if count > KNOWN.get(name, {}).get(place, 0):
                print(f"{place}: {name}: {count}, limit {KNOWN.get(name, {}).get(place, 0)}")
                failed = True
    sys.exit(1 if failed else 0)


main()

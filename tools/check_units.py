#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds includes and calls between units to a graph without circles. A unit is a .c with its .h, and with its
internal header (NAME_parts.h, NAME_internal.h, NAME_private.h), which only the unit and tests include.

    check_units.py BUILD [SOURCE]

Calls are read from the object files of BUILD: an undefined symbol of one, defined in another. Includes are read
from the sources. Prints each circle with the symbols or headers that close it. Exit status 1 when there is one.
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
INTERNAL = re.compile(r"_(parts|internal|private)$")
# Units in the largest circle that remains, by kind and folder: each figure shrinks or goes, none is added.
KNOWN = {
    "calls": {},
    "includes": {},
}


def unit_of(path):
    """src/record/drain of src/record/drain.c or .h."""
    return INTERNAL.sub("", str(path.with_suffix("")))


def calls_of(build, source):
    """unit -> unit -> symbols."""
    objects = {}
    for entry in sorted(build.rglob("*.c.o")):
        parts = entry.relative_to(build).parts
        if parts[0] not in ("src", "formats"):
            continue
        at = parts.index("CMakeFiles")
        source_name = "/".join(parts[:at] + parts[at + 2:])[:-len(".o")]
        if (source / source_name).exists():  # else of a source that is gone
            objects[str(entry)] = unit_of(Path(source_name))
    if len(objects) < 50:
        sys.exit(f"check_units.py: {build}: no object files of the project")
    defined, wanted = {}, collections.defaultdict(set)
    listing = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        name, rest = line.split(":", 1)
        fields = rest.split()
        if len(fields) == 2 and fields[0] == "U":
            wanted[objects[name]].add(fields[1])
        elif len(fields) == 3 and fields[1] in "TDBRCVW":
            defined[fields[2]] = objects[name]
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for unit, symbols in wanted.items():
        for symbol in symbols:
            target = defined.get(symbol)
            if target and target != unit:
                graph[unit][target].add(symbol)
    return graph


def includes_of(source):
    """unit -> unit -> headers."""
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for root in ("src", "formats"):
        for path in sorted((source / root).rglob("*.[ch]")):
            unit = unit_of(path.relative_to(source))
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                found = [r for r in ("src", "formats") if (source / r / name).exists()]
                target = unit_of(Path(found[0]) / name) if found else None
                if target and target != unit:
                    graph[unit][target].add(name)
    return graph


def circles(graph):
    """Tarjan's strongly connected components of more than one unit."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        on_stack.add(unit)
        for target in list(graph[unit]):
            if target not in index:
                visit(target)
                low[unit] = min(low[unit], low[target])
            elif target in on_stack:
                low[unit] = min(low[unit], index[target])
        if low[unit] != index[unit]:
            return
        circle = set()
        while unit not in circle:
            circle.add(stack.pop())
        on_stack.difference_update(circle)
        if len(circle) > 1:
            found.append(circle)

    for unit in list(graph):
        if unit not in index:
            visit(unit)
    return found


def report(kind, graph, circle):
    print(f"{kind}: a circle of {len(circle)} units: {', '.join(sorted(circle))}")
    for unit in sorted(circle):
        for target in sorted(set(graph[unit]) & circle):
            print(f"    {unit} -> {target}: {', '.join(sorted(graph[unit][target]))}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = Path(sys.argv[1])
    source = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent
    calls = calls_of(build, source)
    sys.setrecursionlimit(10000)
    failed = False
    for kind, graph in (("calls", calls), ("includes", includes_of(source))):
        for circle in circles(graph):
            folder = "/".join(sorted(circle)[0].split("/")[:2])
            if len(circle) > KNOWN[kind].get(folder, 0):
                report(kind, graph, circle)
                failed = True
    sys.exit(1 if failed else 0)


main()

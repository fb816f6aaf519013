#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the #include graph to the direction of knowledge that README.md's source map describes.

    check_layers.py [ROOT]

Prints every offending line as path:line: text: why. Exit status 1 when there is one.
"""
import re
import sys
from pathlib import Path

# The part of unwind/ that also runs inside the target.
SHARED_UNWIND = re.compile(r"^(step\.[ch]|arch/\w+_step\.c)$")

# layer -> layers of ours that it may include, besides its own folder
ALLOWED = {
    "base": set(),
    "elf": {"base"},
    "wire": set(),
    "unwind-shared": {"wire"},
    "unwind": {"base", "wire", "elf", "unwind-shared"},
    "sampler": {"wire", "unwind-shared"},
    "perfdata": {"base"},
    "record": {"base", "elf", "wire", "unwind", "unwind-shared", "perfdata"},
    "profile": {"base"},
    "symbols": {"base", "elf"},
    "convert": {"base", "elf", "perfdata", "profile", "symbols", "unwind", "unwind-shared"},
    "export": {"base", "profile"},
    "annotate": {"base", "elf", "profile", "symbols", "convert", "export"},
    "compare": {"base", "profile", "export"},
    "view": {"base", "profile", "convert", "annotate", "export"},
    "cli": {"base", "elf", "wire", "unwind", "unwind-shared", "record", "perfdata", "profile",
            "symbols", "convert", "annotate", "export", "compare", "view"},
}

# system headers -> the only layers that may include them
KEPT_TO = [
    (re.compile(r"^(elfutils/.*|libelf\.h|gelf\.h|dwarf\.h|libiberty/.*)$"), {"symbols"}),
    (re.compile(r"^(Zydis/.*|capstone/.*)$"), {"annotate"}),
    (re.compile(r"^(microhttpd\.h|json-c/.*)$"), {"view"}),
]
# layers -> system headers they must do without: no allocation, no stdio
FORBIDDEN = {
    "wire": re.compile(r"^(stdio|stdlib|malloc)\.h$"),
    "unwind-shared": re.compile(r"^(stdio|stdlib|malloc|unistd|fcntl)\.h$"),
}

# Headers of one machine: only files in arch/ include them, all others take the row in machine.h.
OF_MACHINE = re.compile(r"/arch/(?!machine|arch)\w+\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def layer_of(folder, name):
    if folder == "unwind" and SHARED_UNWIND.match(name):
        return "unwind-shared"
    return folder


def judge(layer, quoted, system):
    """Why this include is wrong, or None."""
    if system:
        for pattern, owners in KEPT_TO:
            if pattern.match(system) and layer not in owners:
                return f"only {', '.join(sorted(owners))} may include <{system}>"
        forbidden = FORBIDDEN.get(layer)
        if forbidden and forbidden.match(system):
            return f"{layer} does without <{system}>"
        return None
    if "/" not in quoted:
        return 'project includes are written "layer/file.h"'
    folder, name = quoted.split("/", 1)
    target = layer_of(folder, name)
    if target not in ALLOWED:
        return f"no layer named {folder}"
    if target == layer or target in ALLOWED[layer]:
        return None
    return f"{layer} may not include {target}"


def check_file(path, layer, root):
    wrong = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        why = judge(layer, found.group(1), found.group(2))
        if found.group(1) and OF_MACHINE.search(found.group(1)) and path.parent.name != "arch":
            why = "only files in arch/ may include headers of one machine"
        if why:
            wrong.append(f"{path.relative_to(root)}:{number}: {line.strip()}: {why}")
    return wrong


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    wrong = []
    files = 0
    for folder in sorted([*root.glob("src/*/"), *root.glob("formats/*/")]):
        if not folder.is_dir():
            continue
        if folder.name not in ALLOWED:
            wrong.append(f"{folder.relative_to(root)}: not in the table of check_layers.py")
            continue
        for path in sorted(folder.rglob("*.[ch]")):
            files += 1
            wrong += check_file(path, layer_of(folder.name, str(path.relative_to(folder))), root)
    if files == 0:
        wrong.append(f"no source files below {root}")
    print("\n".join(wrong) if wrong else f"{files} files keep to their layers")
    return 1 if wrong else 0


sys.exit(main())

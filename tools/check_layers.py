#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the #include graph to the direction of knowledge that ARCHITECTURE.md's map describes, and names of
machines to the folders arch/.

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
    "arch": set(),
    "base": {"arch"},
    "elf": {"base"},
    "wire": {"arch"},
    "unwind-shared": {"wire"},
    "unwind": {"arch", "base", "wire", "elf", "unwind-shared"},
    "sampler": {"arch", "wire", "unwind-shared"},
    "perfdata": {"base"},
    "record": {"arch", "base", "elf", "wire", "unwind", "unwind-shared", "perfdata"},
    "profile": {"base"},
    "symbols": {"arch", "base", "elf"},
    "convert": {"base", "elf", "perfdata", "profile", "symbols", "unwind", "unwind-shared"},
    "export": {"base", "profile"},
    "annotate": {"arch", "base", "elf", "profile", "symbols", "convert", "export"},
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

# Machines: only files in arch/ include headers of one machine or name one. Comments may.
OF_MACHINE = re.compile(r"(^|/)arch/(x86_64|aarch64)\w*\.h$")
MACHINE_NAME = re.compile(r"\b(EM_(?!NONE\b)[A-Z]\w*|R_[A-Z0-9_]+_(RELATIVE|JUMP_SLOT|GLOB_DAT)|AUDIT_ARCH_\w+|REG_R\w+|"
                          r"PERF_REG_\w+|__builtin_ia32_\w+|__asm__ volatile|"
                          r"(?!CFA_)\w*(x86_64|amd64|aarch64|riscv)\w*)\b", re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

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


def without_comments(text):
    """The same lines, so that numbers stay."""
    return COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)


def check_file(path, layer, root):
    wrong = []
    is_arch = path.parent.name == "arch"
    for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
        place = f"{path.relative_to(root)}:{number}: {line.strip()}"
        named = None if is_arch else MACHINE_NAME.search(line)
        if named:
            wrong.append(f"{place}: only files in arch/ may name a machine ({named.group()})")
        found = INCLUDE.match(line)
        if not found:
            continue
        why = judge(layer, found.group(1), found.group(2))
        if found.group(1) and OF_MACHINE.search(found.group(1)) and not is_arch:
            why = "only files in arch/ may include headers of one machine"
        if why:
            wrong.append(f"{place}: {why}")
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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds both librec-sampler.so, of the CPU recorder and of the other recorders, to the tables of
docs/what-the-target-sees.md and docs/hooks.md: every function that passes through a sampler has a row in both; in the
first the row has a test, in the second a reason. The hooks of other recorders stay out of the CPU recorder's sampler,
which has MOST_HOOKS at most.

    check_interposers.py BUILD [--table FILE]              the table names what the library exports
    check_interposers.py BUILD --hide [FUNCTION[:N]...]    each test of the row fails without that function

--hide makes copies of the library in which one function is local: the dynamic linker passes it by, so that
programs call the C library's, while the sampler's own calls stay. The tests of the row run on such a copy, up to
the first that fails; that one must pass with all functions. N is the place among several versions of a function,
from 1. It takes half an hour. Prints a line for each; exit status 1 when one is not missed.
"""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
TABLE = TREE / "docs/what-the-target-sees.md"
REASONS = TREE / "docs/hooks.md"
LIBRARY = "librec-sampler.so"
RECORDERS = "rec-recorders/librec-sampler.so"  # with the hooks of the other recorders
OTHERS = "## Hooks of other recorders"
SHT_DYNSYM, SYMBOL_BYTES = 11, 24
TEST_TIMEOUT_S = 600
MOST_HOOKS = 40  # of the CPU recorder


def read_table(text):
    """{function: [test, ...]} of the rows `a`, `b` | why | what it sees | `test`, ..."""
    rows = {}
    for line in text.splitlines():
        cells = [re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:-1]]
        if len(cells) != 4 or not cells[0]:
            continue
        for name in cells[0]:
            rows.setdefault(name, []).extend(cells[3])
    return rows


def read_reasons(text):
    """The functions of the rows `a`, `b` | program | what breaks."""
    names = set()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and all(cells):
            names.update(re.findall(r"`(\w+)`", cells[0]))
    return names


def read_exports(data):
    """[(function, offset of its type and binding)], one for each version."""
    sections_at, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + 64 * i) for i in range(count)]
    exports = []
    for _, kind, _, _, start, size, link, *_ in sections:
        for at in range(start, start + size, SYMBOL_BYTES) if kind == SHT_DYNSYM else ():
            name_at, _, _, section = struct.unpack_from("<IBBH", data, at)
            name_at += sections[link][4]
            name = data[name_at:data.index(b"\0", name_at)].decode()
            if section not in (0, 0xfff1):  # neither imported nor the name of a version
                exports.append((name, at + 4))
    return exports


def hide(data, info_at):
    """The library with that symbol STB_LOCAL."""
    return data[:info_at] + bytes([data[info_at] & 15]) + data[info_at + 1:]


class Trial:
    """Runs tests of tests/integration with a sampler of its own beside a copy of rec."""

    def __init__(self, build, library, at):
        self.directory = tempfile.TemporaryDirectory(prefix="rec-hidden-")
        place = Path(self.directory.name)
        shutil.copy(build / "rec", place)
        for other in (LIBRARY, RECORDERS):
            (place / other).parent.mkdir(exist_ok=True)
            shutil.copy(build / other, place / other)
        (place / at).write_bytes(library)
        place.chmod(0o755)
        self.environment = dict(os.environ, REC=str(place / "rec"), SOURCE=str(TREE),
                                TARGETS=str(build / "tests/targets"))

    def failed(self, *tests):
        """The first that fails, or hangs; None when all pass."""
        command = [sys.executable, "-B", "-m", "unittest", "--failfast", *tests]
        try:
            done = subprocess.run(command, cwd=TREE / "tests/integration", env=self.environment,
                                  capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return tests[0]
        found = re.search(r"^(?:FAIL|ERROR): \w+ \(([\w.]+)\)", done.stderr, re.M)
        return found[1] if found else None if done.returncode == 0 else tests[0]


def judge(build, at, info_at, tests):
    """What is to be said of a function that is hidden, and whether that is fine."""
    library = (build / at).read_bytes()
    failed = Trial(build, hide(library, info_at), at).failed(*(f"test_{test}" for test in tests))
    if not failed:
        return f"not missed by {', '.join(tests)}", False
    if Trial(build, library, at).failed(failed):
        return f"{failed} fails with it, too", False
    return f"missed by {failed}", True


def check_hidden(build, table, wanted):
    fine = True
    places = {}
    of_cpu = read_exports((build / LIBRARY).read_bytes())
    names = {name for name, _ in of_cpu}
    of_others = [(name, info_at) for name, info_at in read_exports((build / RECORDERS).read_bytes())
                 if name not in names]
    for name, info_at in of_cpu + of_others:
        places[name] = places.get(name, 0) + 1
        place = f"{name}:{places[name]}"
        if wanted and name not in wanted and place not in wanted:
            continue
        said, holds = judge(build, LIBRARY if name in names else RECORDERS, info_at, table[name])
        print(f"{'ok' if holds else 'FAILED'}: {place}: {said}", flush=True)
        fine &= holds
    return fine


def check_table(build, table):
    of_cpu = {name for name, _ in read_exports((build / LIBRARY).read_bytes())}
    exports = {name for name, _ in read_exports((build / RECORDERS).read_bytes())}
    wrong = [f"{name} is exported, but not in the table" for name in sorted(exports - set(table))]
    wrong += [f"{name} is in the table, but not exported" for name in sorted(set(table) - exports)]
    if len(of_cpu) > MOST_HOOKS:
        wrong.append(f"{len(of_cpu)} hooks of the CPU recorder, limit {MOST_HOOKS}")
    wrong += [f"{name} has no test" for name in sorted(table) if not table[name]]
    before, _, behind = REASONS.read_text(encoding="utf-8").partition(OTHERS)
    reasons = read_reasons(before) | read_reasons(behind)
    wrong += [f"{name} is a hook of the CPU recorder, but listed under '{OTHERS}'"
              for name in sorted(of_cpu & read_reasons(behind))]
    wrong += [f"{name} is a hook of another recorder, and exported by the CPU recorder's sampler"
              for name in sorted(of_cpu - read_reasons(before))]
    wrong += [f"{name} is exported, but not in {REASONS.name}" for name in sorted(exports - reasons)]
    wrong += [f"{name} is in {REASONS.name}, but not exported" for name in sorted(reasons - exports)]
    for name in sorted(table):
        wrong += [f"there is no test {test}" for test in table[name]
                  if not (TREE / f"tests/integration/test_{test}.py").exists()]
    for line in wrong:
        print(f"FAILED: {line}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--hide", nargs="*", metavar="FUNCTION")
    words = parser.parse_args()
    build = words.build.resolve()
    table = read_table(words.table.read_text(encoding="utf-8"))
    fine = check_table(build, table)
    if fine and words.hide is not None:
        fine = check_hidden(build, table, words.hide)
    print("fine" if fine else "not fine")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

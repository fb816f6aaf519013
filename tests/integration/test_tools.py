#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The checks of the tree find what they are there for: each is shown a small tree with one fault."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(os.environ["SOURCE"], "tools")
LICENCE = "/* SPDX-License-Identifier: MIT */\n"
failures = []


def run(tool, *words):
    done = subprocess.run([TOOLS / tool, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def check(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{detail}")


def judge(tool, path, text):
    """The tool's verdict on a tree of one file."""
    with tempfile.TemporaryDirectory() as root:
        file = Path(root, path)
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return run(tool, root)


# file, its include, whether that is allowed
INCLUDES = [
    ("src/base/a.c", '"base/b.h"', True),
    ("src/base/a.c", '"elf/elf_file.h"', False),
    ("src/sampler/a.c", '"wire/ring.h"', True),
    ("src/sampler/a.c", '"unwind/step.h"', True),
    ("src/sampler/a.c", '"unwind/module.h"', False),
    ("src/sampler/a.c", '"base/containers/buffer.h"', False),
    ("src/unwind/step.c", '"wire/rows.h"', True),
    ("src/unwind/step.c", '"base/containers/cursor.h"', False),
    ("src/unwind/step.c", "<stdio.h>", False),
    ("src/unwind/cfi/cfi.c", '"base/containers/cursor.h"', True),
    ("src/wire/ring.c", "<stdlib.h>", False),
    ("src/record/a.c", '"profile/profile.h"', False),
    ("src/record/a.c", '"perfdata/writer.h"', True),
    ("src/convert/a.c", '"export/export.h"', False),
    ("src/convert/a.c", "<elfutils/libdw.h>", False),
    ("src/symbols/a.c", "<elfutils/libdw.h>", True),
    ("src/symbols/a.c", '"profile/profile.h"', False),
    ("formats/export/a.c", '"symbols/symbols.h"', False),
    ("formats/perfdata/a.c", '"base/containers/cursor.h"', True),
    ("src/cli/a.c", '"sampler/sampler.h"', False),
    ("src/cli/a.c", '"options.h"', False),
    ("src/novel/a.c", "<stdint.h>", False),
]
for path, include, allowed in INCLUDES:
    status, out = judge("check_layers.py", path, f"{LICENCE}#include {include}\n")
    check(f"{path} includes {include}: {'fine' if allowed else 'found'}", (status == 0) == allowed, out)

TEXTS = [
    ("a.c", LICENCE + "int a;\n", True),
    ("a.c", "int a;\n", False),
    ("a.py", "print(1)\n", False),
    ("tool", "#!/bin/sh\n", False),
    ("a.md", "no licence line needed\n", True),
    ("a.c", LICENCE + "int a; /* TO" "DO */\n", False),
    ("a.c", LICENCE + "\tint a;\n", False),
    ("a.c", LICENCE + "int a; \n", False),
    ("a.c", LICENCE + "int a;", False),
    ("a.md", "see /ho" "me/me/notes\n", False),
]
for path, text, allowed in TEXTS:
    status, out = judge("check_text.py", "tree/" + path, text)
    check(f"{text!r} in {path}: {'fine' if allowed else 'found'}", (status == 0) == allowed, out)

TABLE = (TOOLS.parent / "docs/what-the-target-sees.md").read_text(encoding="utf-8")
TABLES = [
    (TABLE, True, ""),
    (TABLE.replace("`dlclose` |", "dlclose |"), False, "dlclose is exported"),
    (TABLE.replace("`dlclose` |", "`dlclose`, `dlsym` |"), False, "dlsym is in the table"),
    (TABLE.replace("`record_names` |", "|"), False, "dlclose has no test"),
    (TABLE.replace("`record_names` |", "`record_dreams` |"), False, "no test record_dreams"),
]
for text, fine, said in TABLES:
    with tempfile.TemporaryDirectory() as root:
        table = Path(root, "table.md")
        table.write_text(text, encoding="utf-8")
        status, out = run("check_interposers.py", Path(os.environ["REC"]).parent, "--table", table)
        check(f"table of interposers: {said or 'fine'}", (status == 0) == fine and said in out, out)

CASES = """<testsuite>
<testcase name="unit/good" status="run"/>
<testcase name="unit/idle" status="notrun"><skipped/><system-out>needs a thing
no thing here</system-out></testcase>
{}</testsuite>"""
with tempfile.TemporaryDirectory() as root:
    results = Path(root, "results.xml")
    results.write_text(CASES.format(""), encoding="utf-8")
    status, out = run("count_results.py", "", results)
    check("counts", status == 0 and out.endswith("\n1 passed, 0 failed, 1 skipped\n"), out)
    check("names what was skipped, and why", "unit/idle" in out and "no thing here" in out, out)
    status, out = run("count_results.py", " a step;", results)
    check("a broken step fails", status == 1 and out.endswith("1 passed, 1 failed, 1 skipped\n"), out)
    status, out = run("count_results.py", "", results, Path(root, "missing.xml"))
    check("a missing result fails", status == 1 and "missing.xml" in out, out)
    results.write_text(CASES.format('<testcase name="unit/gone" status="notrun">'
                                    '<skipped message="Unable to find executable"/></testcase>'),
                       encoding="utf-8")
    status, out = run("count_results.py", "", results)
    check("a test that was not built fails", status == 1 and "failed: unit/gone" in out, out)
    bad = '<testcase name="unit/bad" status="fail"><failure/></testcase>'
    results.write_text(CASES.format(bad), encoding="utf-8")
    status, out = run("count_results.py", "", results)
    check("a failed test fails", status == 1 and "failed: unit/bad" in out, out)
    again = Path(root, "results-again.xml")
    again.write_text(f"<testsuite>{bad}</testsuite>", encoding="utf-8")
    status, out = run("count_results.py", "", results)
    check("one that fails twice fails once", out.endswith("1 passed, 1 failed, 1 skipped\n"), out)
    again.write_text('<testsuite><testcase name="unit/bad" status="run"/></testsuite>', encoding="utf-8")
    status, out = run("count_results.py", "", results)
    check("one that passes when tried again passes",
          status == 0 and out.endswith("2 passed, 0 failed, 1 skipped\n"), out)
    check("and is named", "second try: unit/bad" in out, out)
    parts = "skipped __main__.Class.test_one: no thing here\n[  SKIPPED ] a_part\n[  SKIPPED ] 1 test(s).\n"
    results.write_text(CASES.format(f'<testcase name="unit/parts" status="run"><system-out>{parts}</system-out></testcase>'),
                       encoding="utf-8")
    again.unlink()
    status, out = run("count_results.py", "", results)
    check("skipped parts count", status == 0 and out.endswith("2 passed, 0 failed, 3 skipped\n"), out)
    check("and are named", "Class.test_one: no thing here" in out and ": a_part\n" in out, out)

print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)

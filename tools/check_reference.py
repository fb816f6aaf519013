#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the options in docs/command-line.md to the option tables of rec.

    check_reference.py REC_PAGES [--update]      REC_PAGES: the program of a build; --update: write them

Exit status 1 when they differ.
"""
import difflib
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs/command-line.md"
BEGIN = "<!-- Options: written by tools/check_reference.py --update -->\n"
END = "\n<!-- End of options -->\n"


def main():
    options = subprocess.run([sys.argv[1], "markdown"], stdout=subprocess.PIPE, text=True, check=True).stdout
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    found, after = rest.split(END)
    if found == options:
        return 0
    if "--update" in sys.argv[2:]:
        DOCUMENT.write_text(before + BEGIN + options + END + after, encoding="utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(found.splitlines(True), options.splitlines(True),
                                               str(DOCUMENT), "the option tables"))
    print("run: tools/check_reference.py BUILD/rec-pages --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())

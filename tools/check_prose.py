#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts words that make engineering prose hard to read, per 1000 words: pronouns for people, verbs of speech said of
processes and functions, and pronouns for things.

    check_prose.py [-v] [FOLDER|FILE...]      counts; -v: the densest comments, worst first
    check_prose.py --check                    holds each folder and page to LIMITS
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "people": r"who|whom|whoever|whose|nobody|somebody|everybody|anybody",
    "speech": r"says?|said|tells?|told|asks?|asked|wants?|wanted|wish(?:es)?|knows?|known|knew",
    "pronouns": r"that|it|its|ones?|those|which|what|whatever",
}
PATTERNS = {name: re.compile(rf"\b(?:{words})\b", re.I) for name, words in KINDS.items()}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
FEW_WORDS = 100  # below, a rate means nothing

LIMITS = {"comments": (0.3, 2, 28), "messages": (0, 1, 10), "markdown": (0.5, 2, 30)}


def comments_of(text):
    for match in COMMENT.finditer(STRING.sub('""', text)):
        comment = " ".join(re.sub(r"^[\s*/]+", " ", line) for line in match.group().splitlines())
        if "SPDX" not in comment:
            yield comment


def messages_of(text):
    for match in STRING.finditer(COMMENT.sub("", text)):
        if match.group().count(" ") >= 3:
            yield match.group()[1:-1]


def paragraphs_of(text):
    return re.split(r"\n\s*\n", re.sub(r"```.*?```|`[^`]*`", " ", text, flags=re.S))


def pieces_of(paths):
    """kind -> prose."""
    found = {"comments": [], "messages": [], "markdown": []}
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix in (".c", ".h", ".cc"):
            found["comments"] += comments_of(text)
            found["messages"] += messages_of(text)
        elif path.suffix == ".md":
            found["markdown"] += paragraphs_of(text)
    return found


def rates_of(pieces):
    words = sum(len(WORD.findall(piece)) for piece in pieces)
    counts = [sum(len(p.findall(piece)) for piece in pieces) for p in PATTERNS.values()]
    return words, [1000 * count / words if words else 0 for count in counts]


def files_of(place):
    path = ROOT / place
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def places():
    """Folders of source, the programs of the measurements, and the documents."""
    for root in ("src", "formats"):
        yield from (f"{root}/{p.name}" for p in sorted((ROOT / root).iterdir()) if p.is_dir())
    yield from (str(p.relative_to(ROOT)) for p in sorted((ROOT / "tests/bench").glob("**/")))
    yield from (str(p.relative_to(ROOT)) for p in sorted(ROOT.glob("*.md")))
    yield from (str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").glob("*.md")))
    yield from (str(p.relative_to(ROOT)) for p in sorted((ROOT / "tests/bench").glob("*.md")))


def check():
    failed = False
    for place in places():
        for kind, pieces in pieces_of(files_of(place)).items():
            words, rates = rates_of(pieces)
            limits = LIMITS[kind]
            if words < FEW_WORDS:
                continue
            for name, rate, limit in zip(PATTERNS, rates, limits):
                if rate > limit:
                    print(f"{place}: {kind}: {rate:.1f} {name} in 1000 words, limit {limit}")
                    failed = True
    return 1 if failed else 0


def density(piece):
    count = sum(len(p.findall(piece)) for p in PATTERNS.values())
    return count / (len(WORD.findall(piece)) + 8)


def show(arguments):
    named = [a for a in arguments if a != "-v"] or list(places())
    found = pieces_of([path for place in named for path in files_of(place)])
    for kind, pieces in found.items():
        words, rates = rates_of(pieces)
        figures = "  ".join(f"{name} {rate:.1f}" for name, rate in zip(PATTERNS, rates))
        print(f"{kind:9} {words:7} words  {figures}")
    if "-v" in arguments:
        for piece in sorted((p for pieces in found.values() for p in pieces), key=density)[:-41:-1]:
            print("   ", " ".join(piece.split()))
    return 0


def main():
    arguments = sys.argv[1:]
    sys.exit(check() if arguments == ["--check"] else show(arguments))


main()

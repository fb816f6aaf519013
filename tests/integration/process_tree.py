# SPDX-License-Identifier: MIT
"""A process and all that it made, by the lists of children in /proc."""

import os
import pathlib


def descendants(pid):
    """The process first, each parent before its children."""
    found = [pid]
    for parent in found:
        try:
            for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text(encoding="ascii").split())
        except OSError:
            pass
    return found


def end(process):
    """Kills a subprocess with a pipe to its input, and its descendants, children first."""
    for pid in reversed(descendants(process.pid)):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass
    process.wait()
    process.stdin.close()

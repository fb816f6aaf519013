# SPDX-License-Identifier: MIT
"""Stacks that perf and rec each unwound out of the same copied bytes, held against each other.

perf's own unwinder is a library (libunwind or libdw) that loses its way more often. So a stack of rec's may have
frames that perf's lacks, if each is proved: there is a call in front of its return address. A frame of
perf's that rec lacks is a mistake of rec's, unless there is no such call. Explanations, beside those of
perf_script:

    perf stops early          all frames that it lacks are callers of its last one
    perf leaves frames out    callers of which it shows
    perf goes on into data    its last frames are no code, or have no call before them

rec's own mark for a stack that could not be followed to its end, "[truncated]", is no frame, and neither is
what perf shows in its place, a frame at address -1.
"""
import collections
import functools

import perf_script

NO_CODE = ("[unknown]", "[heap]", "[stack]", "//anon")


explain_frame = functools.lru_cache(maxsize=None)(perf_script.explain)


def is_proved(ours):
    """Whether the place that rec names is a return address, its file says so."""
    return ours.module.startswith("/") and perf_script.follows_call(ours.module, ours.file_offset + 1)


def is_data(perf):
    if perf.dso in NO_CODE:
        return True
    offsets = perf_script.file_offsets(perf)
    return offsets is not None and not any(perf_script.follows_call(perf.dso, offset) for offset in offsets)


def interrupted(stack):
    """For each frame of perf's, whether its address is that of an interrupted instruction."""
    kernel = "[kernel.kallsyms]"
    return [before is None or before.dso == kernel != frame.dso
            for before, frame in zip((None,) + stack, stack)]


def explain(perf, ours):
    """The reasons why perf's stack is rec's; None: it is another one."""
    if ours and ours[-1].module == "[truncated]":
        ours = ours[:-1]
    reasons = collections.Counter()
    at = 0  # in ours
    for i, (frame, is_interrupted) in enumerate(zip(perf, interrupted(perf))):
        found = next(((skip, reason) for skip, reason in
                      ((skip, explain_frame(frame, ours[skip], is_interrupted))
                       for skip in range(at, len(ours))) if reason is not None), None)
        if not found:
            if not all(map(is_data, perf[i:])):
                return None
            reasons["perf goes on into data"] += 1
            break
        skip, reason = found
        if not all(map(is_proved, ours[at:skip])):
            return None
        reasons[reason] += bool(reason)
        reasons["perf leaves frames out"] += skip > at
        at = skip + 1
    # Without any user frame of perf's, rec's first is where the program was interrupted.
    has_user_frame = any(frame.dso != "[kernel.kallsyms]" for frame in perf)
    if not all(map(is_proved, ours[at + (not has_user_frame):])):
        return None
    reasons["perf stops early"] += at < len(ours)
    return +reasons


def difference(perf, ours, reasons):
    """As perf_script.difference(): what is left of two {stack: sum}. Those that differ least first."""
    theirs, ours = collections.Counter(perf), collections.Counter(ours)
    pairs = ((stack, names, explain(stack, names)) for stack in theirs for names in ours)
    explained = [pair for pair in pairs if pair[2] is not None]
    explained.sort(key=lambda pair: (sum(pair[2].values()), abs(len(pair[0]) - len(pair[1]))))
    for stack, names, found in explained:
        same = min(theirs[stack], ours[names])
        if same:
            reasons.update(found)
            theirs[stack] -= same
            ours[names] -= same
    return +theirs, +ours

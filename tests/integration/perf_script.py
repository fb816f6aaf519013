# SPDX-License-Identifier: MIT
"""What perf script says of a file, and how it differs from what rec says.

Both sides are Tally objects: {(tid, event): {stack: sum of periods}}, a stack being the function names
of its machine code, innermost first, without inlined calls. Where the two differ, a frame of perf's is
explained, or the test fails. Explanations:

    after a call that never returns   perf looks up the return address itself, so it names what follows:
                                      its offset is 0, or the byte before belongs to rec's function
    another name for the same place   the file gives the function's address both names
    perf has no name                  and rec has one
    perf miscounts stubs              of calls into other libraries ("memcpy@plt"), or has no names for
                                      them and takes what stands before
    perf takes data for code          what lies on stacks without frame pointers is no return address: no
                                      call stands before it. The two sides may each name it as they like
    perf drops the stack              as such a value (-1, for one) could be the marker of a context
"""
import collections
import functools
import glob
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "tests/clients"))
import decoders  # noqa: E402

COMM = re.compile(r"PERF_RECORD_COMM(?: exec)?: (.*):\d+/(\d+)$")
FORK = re.compile(r"PERF_RECORD_FORK\(\d+:(\d+)\):\(\d+:(\d+)\)")
HEAD = re.compile(r"^\s*(?P<comm>\S.*?)\s+(?P<tid>-?\d+)\s+(?P<period>\d+)\s+(?P<event>[a-z]\S*):"
                  r"(?:\s(?P<rest>.*))?$")
MAPPING = re.compile(r"PERF_RECORD_MMAP2? -?\d+/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) ?.*\]: "
                     r"\S+ (/[^/].*)$")
FRAME = re.compile(r"^\s*(?P<ip>[0-9a-f]+) (?P<name>\S+?)(?:\+0x(?P<offset>[0-9a-f]+))? \((?P<dso>.*)\)$")

NAMELESS = ("[unknown]", "@plt", "*ABS*")  # the last two: stubs of IRELATIVE relocations

Frame = collections.namedtuple("Frame", "name offset dso")  # offset: of one without a name, in its file
Place = collections.namedtuple("Place", "name module file_offset")


class Tally:
    def __init__(self):
        self.stacks = collections.defaultdict(collections.Counter)
        self.names = collections.defaultdict(set)  # tid -> names of the thread

    def add(self, tid, name, event, stack, period):
        self.stacks[tid, event][stack] += period
        self.names[tid].add(name)


def plain(name):
    """Without the version of shared libraries' symbols, and without what compilers add to the names
    of a function's copies and parts, which debug info does not."""
    name = re.sub(r"@@?(?!plt)[A-Za-z_0-9.]+$", "", name)
    return re.sub(r"(\.(constprop|isra|part|cold|llvm|lto_priv)(\.\d+)?)+$", "", name)


def environment():
    return dict(os.environ, HOME="/nonexistent", PERF_CONFIG="/dev/null", PAGER="cat")


def run(path):
    """The output of perf script, or None when this perf cannot read the file."""
    done = subprocess.run(["perf", "script", "-i", path, "--no-inline", "--no-demangle",
                           "--max-stack", "4096", "--show-task-events", "--show-mmap-events", "-F",
                           "comm,tid,period,event,ip,sym,symoff,dso"], env=environment(),
                          capture_output=True, text=True, errors="replace", timeout=120)
    return None if done.returncode else done.stdout


def descendants(text, pid):
    """The threads of a process and of all that it made, in the output of perf script."""
    found = {pid}
    for child, parent in FORK.findall(text):
        if int(parent) in found:
            found.add(int(child))
    return found


def mapped_files(text):
    """{file: where it was mapped, as (start, end, file offset)}, in the output of perf script."""
    found = collections.defaultdict(set)
    for line in text.splitlines():
        mapping = MAPPING.search(line)
        if mapping:
            start, size, offset = (int(number, 16) for number in mapping.group(1, 2, 3))
            found[mapping[4]].add((start, start + size, offset))
    return found


def frame_of(line, mapped):
    found = FRAME.match(line)
    assert found, f"perf script printed {line!r}"
    offset = int(found["offset"] or "0", 16)
    if found["name"] == "[unknown]":
        ip = int(found["ip"], 16)
        places = mapped.get(found["dso"])
        # Where it is in none of them perf takes the file's header, or data, for code.
        offset = places and next((ip - start + offset for start, end, offset in places if start <= ip < end), 0)
    return Frame(plain(found["name"]), offset, found["dso"])


def read(text):
    """A Tally whose stacks are of Frame."""
    tally = Tally()
    samples = []
    mapped = mapped_files(text)
    for line in text.splitlines():
        head, comm = HEAD.match(line), COMM.search(line)
        if comm:
            tally.names[int(comm[2])].add(comm[1])
        elif head:
            samples.append((head, [head["rest"]] if (head["rest"] or "").strip() else []))
        elif line.strip() and "PERF_RECORD_" not in line:
            samples[-1][1].append(line)
    for head, frames in samples:
        tally.add(int(head["tid"]), head["comm"], head["event"],
                  tuple(frame_of(line, mapped) for line in frames), int(head["period"]))
    return tally


class Names(decoders.Pprof):
    """Of each location only the machine code's own function, under its linkage name, its module, and
    the offset in that file; where nothing more is known, the name is empty."""

    def frames(self, location):
        found = self.locations[location]
        function = self.functions[decoders.one(decoders.message(found[4][-1]), 1)]
        name = plain(self.text(decoders.one(function, 3)))
        mapping = self.mappings.get(decoders.one(found, 2))
        if name.startswith("[") or re.search(r"\+0x[0-9a-f]+$", name):
            name = ""
        if not mapping:
            return [Place(name, "[unknown]", 0)]
        return [Place(name, self.text(decoders.one(mapping, 5)), decoders.one(found, 3)
                      - decoders.one(mapping, 2) + decoders.one(mapping, 4))]


def read_rec(path):
    """A Tally of a .pb file that rec wrote; stacks are of Place."""
    profile = Names(path)
    tally = Tally()
    for stack, values, labels in profile.samples:
        for (event, _), value in zip(profile.sample_types, values):
            if value and event not in ("samples", "off-cpu", "wall"):  # made of switches
                tally.add(labels["tid"], labels.get("thread", ""), event, tuple(stack), value)
    return tally


@functools.lru_cache(maxsize=None)
def addresses(path):
    """{name: its addresses} of a file and its debug file."""
    found = collections.defaultdict(set)
    if path == "[kernel.kallsyms]":
        with open("/proc/kallsyms", encoding="utf-8") as lines:
            for line in lines:
                address, _, name = line.split()[:3]
                found[name].add(int(address, 16))
        return found
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w\w)(\w+)", notes)
    files = [path] + (glob.glob(f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug")
                      if build_id else [])
    for file in files:
        for dynamic in ([], ["-D"]):
            lines = subprocess.run(["nm", *dynamic, "--defined-only", file], capture_output=True,
                                   text=True).stdout
            for line in lines.splitlines():
                address, _, name = (line + " ").split(" ", 2)
                found[plain(name.strip())].add(int(address, 16))
    return found


@functools.lru_cache(maxsize=None)
def image(path):
    """The bytes of a file and, if it is ELF, its loaded segments: (address, file offset, size, is code)."""
    with open(path, "rb") as file:
        content = file.read()
    if not content.startswith(b"\x7fELF"):
        return content, []
    at, = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    segments = []
    for header in range(at, at + size * count, size):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", content, header)
        if kind == 1:
            segments.append((address, offset, length, bool(flags & 1)))
    return content, segments


def call_length(code):
    """Bytes of the call that code starts with; 0: of none."""
    if code[0] == 0xe8:
        return 5
    if code[0] != 0xff or len(code) < 2 or code[1] >> 3 & 7 != 2:
        return 0
    mode, register = code[1] >> 6, code[1] & 7
    if mode == 3:
        return 2
    displacement = {0: 4 if register == 5 else 0, 1: 1, 2: 4}[mode]
    if register == 4 and len(code) > 2:
        displacement = 4 if mode == 0 and code[2] & 7 == 5 else displacement
    return 2 + (register == 4) + displacement


def follows_call(path, file_offset):
    content, segments = image(path)
    if not any(is_code and offset < file_offset <= offset + size
               for _, offset, size, is_code in segments):
        return False
    return any(call_length(content[file_offset - back:file_offset]) == back for back in range(2, 8))


def file_offsets(frame):
    """Where in its file a frame of perf's may be: a name can be that of several functions. None: nobody knows."""
    if not os.path.isfile(frame.dso):
        return None
    if frame.name in NAMELESS:
        return [frame.offset] if frame.name == "[unknown]" and frame.offset is not None else None
    return [address + frame.offset - start + offset
            for address in addresses(frame.dso).get(frame.name, ())
            for start, offset, size, _ in image(frame.dso)[1]
            if start <= address + frame.offset <= start + size]


def is_no_return_address(perf, ours):
    """Where a side knows the file, it has no call before that place."""
    known = []
    offsets = file_offsets(perf)
    if offsets is not None:
        known.append(any(follows_call(perf.dso, offset) for offset in offsets))
    if ours.module.startswith("/"):
        # Callers are looked up at the byte before.
        known.append(follows_call(ours.module, ours.file_offset + 1))
    return bool(known) and not any(known)


def is_same_file(perf, module):
    """rec shows a program that was executed by a link under the name of the link."""
    return module == perf.dso or (module.startswith("/") and os.path.realpath(module) == perf.dso)


def explain(perf, ours, is_interrupted):
    """Why perf names the frame otherwise; None: it should not."""
    name, module, _ = ours
    if perf.name == name:
        return ""
    if not is_interrupted and is_no_return_address(perf, ours):
        return "perf takes data for code"
    if perf.name == "[unknown]" and not name:  # where frame pointers lead to nothing
        return "" if is_same_file(perf, module) else "no name on either side"
    if perf.name in NAMELESS:
        if module == "[unknown]" or module.startswith("[JIT]"):  # mapped without leave to execute, if at all
            return "perf takes data for code" if perf.dso.startswith("/") else ""
        return None if not is_same_file(perf, module) else "perf has no name" if name else ""
    if perf.offset == 0 and not is_interrupted:
        return "after a call that never returns"
    if is_same_file(perf, module) and (name.endswith("@plt") or not name) and (
            perf.name.endswith("@plt") or perf.name == "_init"):
        return "perf miscounts stubs"
    known = addresses(perf.dso)
    if known.get(perf.name, set()) & known.get(name, set()):
        return "another name for the same place"
    return None


def explain_stack(perf, ours, reasons):
    """Whether ours is perf's stack but for frames that have an explanation; counts those."""
    if not perf:
        reasons["perf drops the stack"] += 1
        return True
    if len(perf) != len(ours):
        return False
    kernel = "[kernel.kallsyms]"
    is_interrupted = [before is None or before.dso == kernel != frame.dso
                      for before, frame in zip((None,) + perf, perf)]
    found = [explain(*frames) for frames in zip(perf, ours, is_interrupted)]
    if None in found:
        return False
    reasons.update(reason for reason in found if reason)
    return True


def describe(perf, ours):
    """The shortest stacks that only one side has, side by side."""
    lines = []
    for stack in sorted(perf, key=len)[:3]:
        lines.append("perf: " + " < ".join(f"{frame.name}+{frame.offset} {frame.dso}"
                                           for frame in stack[:12]))
    for stack in sorted(ours, key=len)[:5]:
        lines.append("rec: " + " < ".join(f"{name or '?'} {module}" for name, module, _ in stack[:12]))
    return "\n".join(lines)


def difference(perf, ours, reasons):
    """What is left of two {stack: sum} when equal and explained stacks are taken off both sides.

    Sums of explained stacks are matched as a whole: several of rec's may be one of perf's.
    """
    ours = collections.Counter(ours)
    theirs = collections.Counter(perf)
    places = collections.defaultdict(list)
    for stack in ours:
        places[tuple((name, module) for name, module, _ in stack)].append(stack)
    for stack in theirs:
        names = tuple(("" if frame.name == "[unknown]" else frame.name, frame.dso)
                      for frame in stack)
        for equal in places[names]:
            same = min(theirs[stack], ours[equal])
            theirs[stack] -= same
            ours[equal] -= same
    theirs, ours = +theirs, +ours
    # A frame to which perf gives no name would fit many, and no frame at all any: those last.
    for stack in sorted(theirs, key=lambda stack: (
            not stack, sum(frame.name in NAMELESS for frame in stack))):
        for names in list(ours):
            if theirs[stack] and ours[names] and explain_stack(stack, names, reasons):
                same = min(theirs[stack], ours[names])
                theirs[stack] -= same
                ours[names] -= same
    return +theirs, +ours

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the shipped librec-sampler.so to what may run in somebody else's process.

    check_sampler_so.py LIBRARY [--exports LIST...]

Linkage is read with readelf. What the signal handler can reach is read from the machine code, by
following every way through objdump's listing from `handler` on: calls, tail calls, and what they do to
the stack pointer. The library must have its local symbols. Prints one line a check; exit status 1 when one
fails.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

HANDLER = "handler"
# Signals that are not ours end here: what they would have done without us takes system calls, and ends in
# the program's own handler, whose address is a copy by then.
DELIVER = "deliver_foreign"
STACK_BYTES_MAX = 1536
TLS_BYTES_MAX = 64
PAGE_BYTES = 4096
SESSION_H = Path(__file__).resolve().parent.parent / "src/wire/session.h"

# symbol -> why the sampler needs it. None of them may be reachable from the handler.
IMPORTS = {
    "dlsym": "finds what we are put in front of",
    "dlvsym": "finds an old version of it",
    "pthread_key_create": "notices the end of a thread",
    "pthread_setspecific": "notices the end of a thread",
    "pthread_attr_getstack": "the stack that a new thread was given",
    "pthread_attr_setstacksize": "room for samples on small stacks",
    "pthread_attr_setstack": "hides that from who asks for a thread's stack",
    "pthread_getattr_default_np": "the stack that a new thread gets otherwise",
    "pthread_attr_getstacksize": "the stack that a new thread gets otherwise",
    "pthread_attr_getdetachstate": "a thread created as detached is never joined",
    "pthread_self": "the handle of a new thread",
    "pthread_attr_destroy": "the stack that a new thread gets otherwise",
    "__libc_single_threaded": "nobody else is about to use what is unmapped",
    "munlockall": "what mlockall() does first without MCL_FUTURE",
    "pthread_setcanceltype": "a thread is cancelled in waitid()",
    "__pthread_register_cancel": "pthread_cleanup_push(): a thread is cancelled in system()",
    "__pthread_unregister_cancel": "pthread_cleanup_pop()",
    "__pthread_unwind_next": "the end of such a cleanup",
    "__sigsetjmp": "the same",
    "environ": "what execv() and its kind hand on",
    "__environ": "the same",
    "sigaddset": "defers our signal during handlers on alternate stacks",
    "sigdelset": "hides that from what sigaction() answers",
    "sigismember": "asks whether the program's mask held it anyway",
    "sigfillset": "the mask of our handler",
    "__errno_location": "sigprocmask() tells its errors there",
    "memcpy": "what clang makes of a large struct's initial value",
    "__register_atfork": "a forked child joins by itself",
}
NEEDED = {"libc.so.6"}
RELOCATIONS = {"R_X86_64_RELATIVE", "R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT", "R_X86_64_TPOFF64"}
FLAGS = {"BIND_NOW", "NOW", "NODELETE", "INITFIRST"}
# Functions in front of which a compiler or the C library's static part puts "__".
STATIC_RUNTIME = {"__pthread_atfork"}

FUNCTION_LINE = re.compile(r"^([0-9a-f]+) <(.+)>:$")
INSTRUCTION_LINE = re.compile(r"^\s+([0-9a-f]+):\s+(\S.*)$")
PREFIXES = {"addr32", "bnd", "notrack", "lock", "rep", "repz", "repnz", "data16", "cs", "ds", "es"}
DIRECT = re.compile(r"^([0-9a-f]+) <")
GOT_COMMENT = re.compile(r"# ([0-9a-f]+)")
NUMBER = r"(-?0x[0-9a-f]+)"


class Unreadable(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unreadable(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Library:
    """What readelf says."""

    def __init__(self, path):
        self.path = str(path)
        self.dynamic = run("readelf", "-Wd", self.path)
        self.segments = run("readelf", "-Wl", self.path)
        self.needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic))
        self.loads = [tuple(int(number, 16) for number in found) for found in re.findall(
            r"^ +LOAD +\S+ +(0x\S+) +\S+ +(0x\S+) +(0x\S+)", self.segments, re.M)]
        self.versions = set(re.findall(r"Name: GLIBC_([\d.]+) +Flags", run("readelf", "-WV", self.path)))
        self.flags = set()
        for words in re.findall(r"\(FLAGS(?:_1)?\)\s+(?:Flags: )?(.*)", self.dynamic):
            self.flags |= set(words.split())
        self.read_symbols()
        self.read_relocations()

    def read_symbols(self):
        self.imports, self.exports, self.functions = set(), set(), {}
        listing = run("readelf", "-Ws", self.path)
        for table, body in re.findall(r"Symbol table '(.*)' contains.*\n.*\n((?:.+\n?)*)", listing):
            for line in body.splitlines():
                _, value, _, kind, binding, _, section, *name = line.split()
                name = name[0].split("@")[0] if name else ""
                if table == ".dynsym" and name and section != "ABS":  # which names a version
                    (self.imports if section == "UND" else self.exports).add(name)
                elif table == ".symtab" and kind == "FUNC" and section != "UND":
                    self.functions[int(value, 16)] = name

    def read_relocations(self):
        self.relocations = []  # (place, type, symbol or addend)
        pattern = r"^([0-9a-f]+)\s+[0-9a-f]+\s+(R_\S+)\s+(.*)$"
        for place, kind, rest in re.findall(pattern, run("readelf", "-Wr", self.path), re.M):
            words = rest.split()
            target = words[1].split("@")[0] if len(words) > 1 else words[0]
            self.relocations.append((int(place, 16), kind, target))
        self.got_imports = {place: symbol for place, kind, symbol in self.relocations
                            if kind in ("R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT")}

    def section(self, name):
        found = re.search(rf"\] {re.escape(name)}\s+\S+\s+(\S+)\s+\S+\s+(\S+)",
                          run("readelf", "-WS", self.path))
        if not found:
            return range(0)
        start = int(found.group(1), 16)
        return range(start, start + int(found.group(2), 16))

    def segment_bytes(self, kind):
        found = re.search(rf"^\s+{kind}\s+\S+\s+\S+\s+\S+\s+\S+\s+(\S+)\s+(.*?)\s+0x", self.segments,
                          re.M)
        return (int(found.group(1), 16), found.group(2)) if found else None


class Code:
    """objdump's listing: instructions by address, and the function that each belongs to."""

    def __init__(self, library):
        self.instructions, self.following, self.owner = {}, {}, {}
        name, previous = None, None
        for line in run("objdump", "-dw", "--no-show-raw-insn", library.path).splitlines():
            function = FUNCTION_LINE.match(line)
            if function:
                name = function.group(2)
                continue
            found = INSTRUCTION_LINE.match(line)
            if not found:
                continue
            address = int(found.group(1), 16)
            words = found.group(2).split(None, 1)
            while words[0] in PREFIXES and len(words) > 1:
                words = words[1].split(None, 1)
            self.instructions[address] = (words[0], words[1].strip() if len(words) > 1 else "")
            self.owner[address] = name
            if previous is not None:
                self.following[previous] = address
            previous = address
        self.got_imports = library.got_imports
        # Aliases have one address; the compiler's clones of a function have its name and a suffix.
        self.starts = {}
        for address, symbol in library.functions.items():
            self.starts.setdefault(symbol.split(".")[0], address)


class Walk:
    """Everything that can run below one function, with the stack it takes."""

    def __init__(self, code, deliver):
        self.code = code
        self.deliver = deliver  # address
        self.measured = {}      # (start, delivering) -> (bytes, path)
        self.under_way = []
        self.wrong = {"syscalls": [], "imports": [], "indirect": [], "recursion": [], "stack": []}
        self.functions = set()

    def complain(self, kind, address, text):
        line = f"{self.code.owner.get(address, '?')}+0x{address:x}: {text}"
        if line not in self.wrong[kind]:
            self.wrong[kind].append(line)

    def measure(self, start, delivering):
        """(bytes, path) of a call to start, its return address included."""
        key = (start, delivering)
        if key in self.measured:
            return self.measured[key]
        if start in self.under_way:
            self.complain("recursion", start, "calls itself")
            return 0, []
        self.under_way.append(start)
        result = self.follow(start, delivering)
        self.under_way.pop()
        self.measured[key] = result
        return result

    def follow(self, start, delivering):
        """Every way from start to a return. depth: bytes pushed, the return address included; frame: the
        depth that the frame pointer stands for."""
        own, deepest, path = 0, 0, []
        seen = {}
        waiting = [(start, 8, None)]
        while waiting:
            address, depth, frame = waiting.pop()
            if address in seen:
                if seen[address] != depth:
                    self.complain("stack", address, "reached with different stack depths")
                continue
            if address not in self.code.instructions:
                self.complain("stack", address, "leads out of the code")
                continue
            seen[address] = depth
            self.functions.add(self.code.owner[address])
            self.judge(address, delivering)
            depth, frame = self.stack_after(address, depth, frame)
            own = max(own, depth)
            for target, is_call in self.leads_to(address):
                enters_deliver = target == self.deliver and target != start
                if is_call or enters_deliver:
                    below, below_path = self.measure(target, delivering or enters_deliver)
                    below += depth if is_call else depth - 8
                    if below > deepest:
                        deepest, path = below, below_path
                else:
                    waiting.append((target, depth, frame))
        return max(own, deepest), [f"{self.code.owner[start]} {own}"] + path

    def leads_to(self, address):
        """(where it goes on, whether that is a call)"""
        name, operands = self.code.instructions[address]
        direct = DIRECT.match(operands)
        target = int(direct.group(1), 16) if direct else None
        steps = []
        if name.startswith("call") and target is not None:
            steps.append((target, True))
        elif name.startswith("j") and target is not None:
            steps.append((target, False))
        if not name.startswith(("jmp", "ret", "ud2", "hlt")) and address in self.code.following:
            steps.append((self.code.following[address], False))
        return steps

    def judge(self, address, delivering):
        name, operands = self.code.instructions[address]
        if name in ("syscall", "sysenter", "int") and not delivering:
            self.complain("syscalls", address, f"{name} {operands}".strip())
        place = GOT_COMMENT.search(operands)
        if place and int(place.group(1), 16) in self.code.got_imports:
            self.complain("imports", address, self.code.got_imports[int(place.group(1), 16)])
        elif "@plt" in operands or "@plt" in self.code.owner[address]:
            self.complain("imports", address, f"{name} {operands}")
        elif name.startswith(("call", "jmp")) and operands.startswith("*"):
            is_program = (delivering and name.startswith("call") and "(%rip)" not in operands and
                          self.code.owner[address].split(".")[0] == DELIVER)
            if not is_program:
                self.complain("indirect", address, f"{name} {operands}")

    def stack_after(self, address, depth, frame):
        name, operands = self.code.instructions[address]
        if name.startswith("push"):
            return depth + 8, frame
        if name.startswith("pop"):
            return depth - 8, (None if operands == "%rbp" else frame)
        if name == "mov" and operands == "%rsp,%rbp":
            return depth, depth
        if name == "leave" and frame is not None:
            return frame - 8, None
        if name.startswith(("call", "ret")) or not operands.endswith(",%rsp"):
            return depth, frame
        constant = re.match(rf"^\${NUMBER},%rsp$", operands)
        from_sp = re.match(rf"^{NUMBER}\(%rsp\),%rsp$", operands)
        from_frame = re.match(rf"^{NUMBER}\(%rbp\),%rsp$", operands)
        if name.startswith("sub") and constant:
            return depth + int(constant.group(1), 16), frame
        if name.startswith("add") and constant:
            return depth - int(constant.group(1), 16), frame
        if name.startswith("lea") and from_sp:
            return depth - int(from_sp.group(1), 16), frame
        if name.startswith("lea") and from_frame and frame is not None:
            return frame - int(from_frame.group(1), 16), frame
        if name.startswith(("cmp", "test")):
            return depth, frame
        self.complain("stack", address, f"cannot follow {name} {operands}")
        return depth, frame


def listed_exports(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def names(items):
    return ", ".join(sorted(items))


def check_linkage(library, export_list):
    """(check, what is wrong or None, what was found)"""
    unknown = library.imports - IMPORTS.keys()
    yield ("imports are known", names(unknown), f"{len(library.imports)}, each with a reason")
    yield ("libraries needed", names(library.needed ^ NEEDED), names(library.needed))
    yield check_versions(library)
    wanted = set().union(*map(listed_exports, export_list))
    yield ("exports are those of the list", names(library.exports ^ wanted), f"{len(wanted)}")
    helpers = {name for name in library.functions.values()
               if name.startswith("__") and name not in STATIC_RUNTIME | wanted}
    yield ("no compiler runtime linked in", names(helpers), "none")
    kinds = {kind for _, kind, _ in library.relocations}
    yield ("relocations", names(kinds - RELOCATIONS), names(kinds))
    textrel = "TEXTREL" if "TEXTREL" in library.dynamic else ""
    missing = names(FLAGS - library.flags) and "lacks " + names(FLAGS - library.flags)
    yield ("dynamic flags", missing or textrel, names(FLAGS))
    tls = library.segment_bytes("TLS")
    tls_bytes = tls[0] if tls else 0
    yield ("thread-local storage", f"{tls_bytes} bytes" if tls_bytes > TLS_BYTES_MAX else "",
           f"{tls_bytes} of {TLS_BYTES_MAX} bytes")
    stack = library.segment_bytes("GNU_STACK")
    yield ("stack is not executable", "" if stack and "E" not in stack[1] else "it is", "RW")
    yield check_mappings(library)
    yield check_data_page(library)
    yield check_constructors(library)


def check_versions(library):
    """Programs with an older C library than the header says are left alone; others have to start."""
    def as_numbers(version):
        return [int(number) for number in version.split(".")]
    newest = max(library.versions, key=as_numbers)
    stated = re.search(r'SESSION_LIBC_VERSION "GLIBC_(.*)"', SESSION_H.read_text(encoding="utf-8"))[1]
    wrong = f"needs {newest}, {SESSION_H.name} says {stated}" if as_numbers(newest) > as_numbers(stated) else ""
    return ("version of the C library", wrong, newest)


def check_mappings(library):
    """Each costs every process that starts, and again what it forks and executes."""
    extra = []
    if len(library.loads) != 2:
        extra.append(f"{len(library.loads)} segments")
    for start, file_bytes, memory_bytes in library.loads:
        if -(-(start + file_bytes) // PAGE_BYTES) != -(-(start + memory_bytes) // PAGE_BYTES):
            extra.append(f"{memory_bytes - file_bytes} bytes of zeros go beyond the file's last page")
    return ("two mappings of the file", "; ".join(extra), "and none besides")


def check_data_page(library):
    """Written by the dynamic linker and the constructor: a further page costs every program a copy, and RELRO a
    second one and a mapping. Only the cache of the first thread's state precedes this page."""
    start, _, memory_bytes = library.loads[-1]
    first, last = library.section(".init_array").start // PAGE_BYTES, (start + memory_bytes - 1) // PAGE_BYTES
    return ("one page written at the start", f"{last - first + 1} pages" if last > first else "",
            "first_thread's cache and one page")


def check_constructors(library):
    found = []
    for section in (".preinit_array", ".init_array"):
        for place in library.section(section)[::8]:
            target = [addend for where, _, addend in library.relocations if where == place]
            start = int(target[0], 16) if target else 0
            found.append(library.functions.get(start, f"0x{start:x}"))
    ours = [name for name in found if name != "frame_dummy"]
    return ("one constructor", "" if len(ours) == 1 else f"{len(ours)}: {names(ours)}",
            names(ours))


def check_handler(library):
    code = Code(library)
    if HANDLER not in code.starts or DELIVER not in code.starts:
        raise Unreadable(f"{library.path}: no {HANDLER} or no {DELIVER}: was it stripped?")
    walk = Walk(code, code.starts[DELIVER])
    stack_bytes, path = walk.measure(code.starts[HANDLER], False)
    reached = f"{len(walk.functions)} functions reachable"
    for name, kind, found in [
            ("handler calls nothing imported", "imports", reached),
            (f"handler makes no system call before {DELIVER}", "syscalls", reached),
            ("handler calls nothing through pointers but the program's handler", "indirect", reached),
            ("handler does not recurse", "recursion", reached),
            ("handler's stack can be followed", "stack", reached)]:
        yield (name, "; ".join(walk.wrong[kind]), found)
    yield ("handler's stack", f"{stack_bytes} bytes" if stack_bytes > STACK_BYTES_MAX else "",
           f"{stack_bytes} of {STACK_BYTES_MAX} bytes: {' > '.join(path)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("library")
    default_list = Path(__file__).resolve().parent.parent / "src/sampler/export.list"
    parser.add_argument("--exports", nargs="+", metavar="LIST", default=[default_list])
    options = parser.parse_args()
    failed = 0
    try:
        library = Library(options.library)
        for check, wrong, found in [*check_linkage(library, options.exports), *check_handler(library)]:
            print(f"FAIL  {check}: {wrong}" if wrong else f"ok    {check}: {found}")
            failed += bool(wrong)
    except (Unreadable, OSError) as error:
        print(f"FAIL  {error}")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

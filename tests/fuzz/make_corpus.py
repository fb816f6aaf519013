#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds of the fuzz targets, then new inputs that reach more code, reduced to a small set.

    tests/fuzz/make_corpus.py BUILD_DIRECTORY [SECONDS]     per target, default 30

BUILD_DIRECTORY is configured with REC_FUZZ=ON and REC_SANITIZE=ON. Writes tests/fuzz/corpus/TARGET/.
"""
import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

FUZZ = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FUZZ.parent / "integration"))
import hostile_captures as captures  # noqa: E402 (the path is set above)

INPUT_BYTES_MAX = 2048
INPUTS_MAX = 40
NAMES = ("_ZN3foo3barEi", "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZL6hiddeni.constprop.0",
         "_RNvCs1234_7mycrate3foo", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
         "operator new[](unsigned long)", "std::map<int, std::less<int>>::at(int const&) const",
         "void f<(a<b)>(decltype(x)::y (*)(z))", "(anonymous namespace)::g()", "caml_main$1", "")
SOURCE = "static int f(int x) { return x * x + 1; } int _start(int x) { return f(x) + f(x + 1); }"


def small_captures():
    """One of each kind of record."""
    pid, avma = 7, captures.CODE_AVMA
    records = [captures.comm(pid, 1, "app"), captures.mapping(pid, 2, avma, 4096, "/bin/app"),
               captures.fork(8, pid, 3), captures.sample(pid, 4, [avma + 16, avma + 32]),
               captures.sample(8, 5, [avma + 48])]
    whole = captures.capture(b"".join(records))
    yield whole
    yield whole[:-9]
    for record in records:
        yield captures.capture(record)
    yield captures.capture(captures.compressed(b"".join(records)))
    yield captures.capture(captures.compressed(b"".join(records), has_size=True))


def small_programs():
    """Linked without the C library, with debug info of three versions and compressed sections."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "a")
        for options in (["-s"], ["-g", "-gdwarf-4"], ["-g", "-gdwarf-5", "-gz"], ["-O2", "-g1", "-pie"]):
            subprocess.run(["gcc", "-nostdlib", "-ffreestanding", "-Wl,-z,max-page-size=64,-z,noseparate-code,--hash-style=gnu",
                            "-xc", "-", "-o", path, *options], input=SOURCE.encode(), cwd="/", check=True)
            yield path.read_bytes()


def call_frame_information():
    """A CIE and an FDE in both forms, in each half of the input."""
    cie = struct.pack("<II", 0, 0) + bytes([1]) + b"zR\0" + bytes([1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1])
    cie = struct.pack("<I", len(cie) - 4 + 4) + cie[4:] + bytes(4)
    fde = struct.pack("<Iii", len(cie) + 4, -0x1000 - len(cie) - 8, 64)
    fde += bytes([0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6])
    fde = struct.pack("<I", len(fde)) + fde
    eh_frame = cie + fde + bytes(4)
    yield eh_frame * 2
    yield eh_frame + bytes([1, 0x1b, 3, 0x3b]) + struct.pack("<iIii", 0x800, 1, -0x800, 0x800).ljust(len(eh_frame) - 4, b"\0")


def stack_of_returns(size):
    """Words that the target turns into addresses of the code, four bytes apart."""
    return b"".join(struct.pack("<Q", 1 << 56 | 4 * i) for i in range(size // 8 + 1))


def view_requests():
    """A body of each request to the function of fuzz_view.c, then a connection with each, one with two and one cut."""
    module = {"debugName": "exe", "debugId": "0" * 33}
    bodies = [{"jobs": [{"memoryMap": [["exe", "0" * 33]], "stacks": [[[0, 4096], [0, 1]]]}]},
              {**module, "moduleOffset": "0x1000", "file": "/usr/include/stdio.h"},
              {**module, "startAddress": "0x1000", "size": "0x40", "continueUntilFunctionEnd": False}]
    paths = ("symbolicate/v5", "source/v1", "asm/v1")
    connections = []
    for kind, body in enumerate(bodies):
        text = json.dumps(body).encode()
        yield bytes([kind]) + text
        connections.append(request("POST", paths[kind], text))
    connections += [request("GET", path) for path in ("", "profile.json", "files/rec.folded", "page", "../etc/passwd")]
    connections += [request("OPTIONS", "asm/v1"), connections[0] + connections[3], connections[1][:-20]]
    yield from (b"\3" + connection for connection in connections)


def request(method, path, body=b""):
    head = f"{method} /{'a' * 32}/{path} HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n"
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{head}{length}\r\n".encode() + body


def seeds():
    programs = list(small_programs())
    return {
        "fuzz_view": list(view_requests()),
        "fuzz_merge": [one + other for one in list(small_captures())[:2] for other in list(small_captures())[:2]],
        "fuzz_perfdata_reader": list(small_captures()),
        "fuzz_load": list(small_captures()),
        "fuzz_elf": programs,
        "fuzz_symbols": programs,
        "fuzz_cfi": list(call_frame_information()),
        "fuzz_code": [program + stack_of_returns(len(program) // 3) for program in programs],
        "fuzz_jit": [b"\0" + captures.perf_map(200), b"\1" + captures.jitdump(200),
                     b"\2ffffffff81000000 T _stext\nffffffff81000100 t f\t[mod]\n"],
        "fuzz_names": [name.encode() for name in NAMES],
        "fuzz_rings": [struct.pack("<Q", 64) + bytes([value]) * 600 for value in (0, 1, 255)],
    }


def run(program, *words):
    subprocess.run([program, "-rss_limit_mb=2048", "-timeout=10", *map(str, words)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make(build, target, inputs, seconds):
    program = build / "tests/fuzz" / target
    with tempfile.TemporaryDirectory() as directory:
        grown, reduced = pathlib.Path(directory, "grown"), pathlib.Path(directory, "reduced")
        grown.mkdir(), reduced.mkdir()
        for number, content in enumerate(inputs):
            (grown / f"seed-{number}").write_bytes(content)
        size = max([INPUT_BYTES_MAX, *map(len, inputs)])
        run(program, f"-max_total_time={seconds}", f"-max_len={size}", "-seed=1", grown)
        run(program, "-merge=1", f"-max_len={size}", reduced, grown)
        kept = sorted(reduced.iterdir(), key=lambda path: path.stat().st_size)
        kept = [path.read_bytes() for path in kept[::-(-len(kept) // INPUTS_MAX) or 1]]
    corpus = FUZZ / "corpus" / target
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    for content in {*kept, *inputs}:
        (corpus / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    for target, inputs in seeds().items():
        make(build, target, inputs, seconds)


if __name__ == "__main__":
    main()

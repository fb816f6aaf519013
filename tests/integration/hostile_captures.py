# SPDX-License-Identifier: MIT
"""Captures and perf maps of a few MiB that are expensive to convert. Every generator is deterministic.

    CAPTURES[kind]() -> the bytes of a perf.data
    perf_map(bytes)  -> the text of a perf map of about this size
"""
import random
import struct
import subprocess

LARGEST_BYTES = 10 << 20
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5  # IP, TID, TIME, CALLCHAIN
STACK_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 12 | 1 << 13  # IP, TID, TIME, REGS_USER, STACK_USER
REGISTERS = 1 << 6 | 1 << 7 | 1 << 8  # BP, SP, IP
SAMPLE_ID_ALL = 1 << 18
MMAP, COMM, FORK, SAMPLE, HEADER_ATTR, EVENT_UPDATE, COMPRESSED, COMPRESSED2 = 1, 3, 7, 9, 64, 78, 81, 83
EXECUTABLE = 2  # misc: user mode
CODE_AVMA = 0x7f0000000000
STACK_AVMA = 0x7ffd00000000
STACK_BYTES = 65392  # the largest copy, a multiple of 16


def capture(records, sample_type=SAMPLE_TYPE):
    """A perf.data with one event, cpu-clock, and these records."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, sample_type, 0, SAMPLE_ID_ALL).ljust(80, b"\0")
    attr += struct.pack("<QI", REGISTERS, STACK_BYTES).ljust(32, b"\0")
    attr += struct.pack("<QQ", 0, 0)
    data_at = 104 + len(attr)
    header = b"PERFILE2" + struct.pack("<12Q", 104, len(attr), 104, len(attr), data_at, len(records), *[0] * 6)
    return header + attr + records


def record(kind, body, misc=EXECUTABLE):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


FINISHED_ROUND = record(68, b"", 0)


def trailer(pid, time_ns):
    """What SAMPLE_ID_ALL appends: pid, tid, time."""
    return struct.pack("<IIQ", pid, pid, time_ns)


def text(name):
    return name.encode() + bytes(8 - len(name.encode()) % 8)


def mapping(pid, time_ns, start_avma, size, path):
    return record(MMAP, struct.pack("<IIQQQ", pid, pid, start_avma, size, 0) + text(path) + trailer(pid, time_ns))


def comm(pid, time_ns, name):
    return record(COMM, struct.pack("<II", pid, pid) + text(name) + trailer(pid, time_ns), 0)


def fork(pid, parent_pid, time_ns):
    return record(FORK, struct.pack("<IIIIQ", pid, parent_pid, pid, parent_pid, time_ns) + trailer(pid, time_ns), 0)


def sample(pid, time_ns, callchain):
    return record(SAMPLE, struct.pack("<QIIQQ", callchain[0], pid, pid, time_ns, len(callchain))
                  + struct.pack(f"<{len(callchain)}Q", *callchain))


def stack_sample(pid, time_ns, pc, words):
    """A copy of a stack at STACK_AVMA, where SP and FP lead."""
    stack = struct.pack(f"<{len(words)}Q", *words)
    return record(SAMPLE, struct.pack("<QIIQ", pc, pid, pid, time_ns) + struct.pack("<QQQQ", 2, STACK_AVMA, STACK_AVMA, pc)
                  + struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack)))


def compressed(records, has_size=False):
    """The records as one zstd stream in COMPRESSED records, or in COMPRESSED2 ones, which state their size."""
    stream = subprocess.run(["zstd", "-q", "-3", "-c"], input=records, capture_output=True, check=True).stdout
    out = []
    for at in range(0, len(stream), 32768):
        piece = stream[at:at + 32768]
        if has_size:
            body = struct.pack("<Q", len(piece)) + piece
            out.append(record(COMPRESSED2, body + bytes(-len(body) % 8), 0))
        else:
            out.append(record(COMPRESSED, piece, 0))
    return b"".join(out)


def names_of_threads():
    """Compresses to a fiftieth: a thread each, in memory a hundred bytes and more."""
    return b"".join(comm(tid, tid, "a") for tid in range(1, 1400001))


def compressed_names():
    return capture(compressed(names_of_threads()))


def compressed_names_with_sizes():
    return capture(compressed(names_of_threads(), has_size=True))


def compressed_zeros():
    """One record of compressed bytes that hold 4 GiB of nothing."""
    zeros = subprocess.run("head -c 4G /dev/zero | zstd -q -3 -c", shell=True, capture_output=True, check=True).stdout
    return capture(b"".join(record(COMPRESSED, zeros[at:at + 32768], 0) for at in range(0, len(zeros), 32768)))


def compressed_samples():
    """The same sample again and again, which no recorder writes: a thousandth is stored."""
    return capture(compressed(sample(1, 1, [CODE_AVMA] * 100) * 1200000))


def forks_with_mappings():
    """Every process inherits all mappings of the first."""
    maps = [mapping(1, 1, CODE_AVMA + (i << 13), 4096, "/a") for i in range(60000)]
    forks = [fork(pid, 1, 2) + mapping(pid, 3, 0x1000, 4096, "/a") + sample(pid, 4, [0x1000]) for pid in range(2, 2000)]
    return capture(b"".join(maps + forks))


def random_chains():
    chaos = random.Random(1)
    return capture(b"".join(sample(1, i, [chaos.getrandbits(46) for _ in range(120)]) for i in range(1, 10000)))


def chains_of_markers():
    """The longest callchains that a record can hold, in the contexts of kernel, guest and user in turn."""
    contexts = [(1 << 64) - 128, (1 << 64) - 512, (1 << 64) - 2048, (1 << 64) - 2176]
    chain = [contexts[i // 2 % 4] if i % 2 == 0 else 0x1000 + i for i in range(8000)]
    return capture(b"".join(sample(1, i, [i] + chain[1:]) for i in range(1, 160)))


def deep_chains():
    """Each 8000 calls deep, and none like the one before."""
    return capture(b"".join(sample(1, i, [i << 20 | depth for depth in range(8000)]) for i in range(1, 160)))


def overlapping_mappings():
    """Each splits the one below: the map of the process has two more pieces every time."""
    maps = [mapping(1, 1, CODE_AVMA, 1 << 40, "/a")]
    places = list(range(145000))
    random.Random(2).shuffle(places)
    maps += [mapping(1, 2, CODE_AVMA + (i << 20), 4096, "/b") for i in places]
    return capture(b"".join(maps) + sample(1, 3, [CODE_AVMA + 1]))


def mappings_over_all():
    """A mapping over all that there are, then small ones again."""
    out = []
    for turn in range(400):
        out += [mapping(1, 2 * turn + 1, CODE_AVMA + (i << 20), 4096, "/b") for i in range(360)]
        out.append(mapping(1, 2 * turn + 2, CODE_AVMA, 1 << 40, "/a"))
    return capture(b"".join(out) + sample(1, 2000, [CODE_AVMA + 1]))


def many_libraries():
    """A sample in each of as many files, none of which is there."""
    out = []
    for i in range(70000):
        out.append(mapping(1, 1 + i, CODE_AVMA + (i << 16), 4096, f"/none/{i}"))
        out.append(sample(1, 1 + i, [CODE_AVMA + (i << 16) + 16]))
    return capture(b"".join(out))


def many_processes():
    """A process each, with a sample in code that no file describes."""
    return capture(b"".join(sample(pid, pid, [CODE_AVMA + pid]) for pid in range(1, 170000)))


def times_in_reverse():
    return capture(b"".join(sample(1, 1 << 40 | -i & 0xffffff, [0x1000]) for i in range(1, 170000)))


def with_names_of_events(attrs, records, lines):
    """A capture with simpleperf's names of events: lines of name, type and config."""
    feature, names = 129, b"event_type_info\0" + lines + b"\0"
    features = [1 << feature % 64 if i == feature // 64 else 0 for i in range(4)]
    data_at = 104 + len(attrs)
    names_at = data_at + len(records) + 16
    header = b"PERFILE2" + struct.pack("<12Q", 104, 128, 104, len(attrs), data_at, len(records), 0, 0, *features)
    return header + attrs + records + struct.pack("<QQ", names_at, len(names)) + names


def attr_of(kind, config):
    return struct.pack("<IIQQQQQ", kind, 112, config, 1000000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL).ljust(128, b"\0")


def names_of_simpleperf():
    """30 000 events, and half a million names for each of them."""
    return with_names_of_events(attr_of(1, 0) * 30000, sample(1, 1, [0x1000]),
                                b"".join(b"%x,1,0\n" % i for i in range(500000)))


def updates_of_a_pipe():
    """100 000 units for an event that is not among 640 000."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL).ljust(112, b"\0")
    ids = [record(HEADER_ATTR, attr + struct.pack("<8000Q", *range(i, i + 8000)), 0) for i in range(0, 640000, 8000)]
    update = record(EVENT_UPDATE, struct.pack("<QQ", 0, 1 << 40) + text("ms"), 0)
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(ids) + update * 100000 + sample(1, 1, [0x1000])


CAPTURES = {make.__name__: make for make in (
    compressed_names, compressed_names_with_sizes, compressed_zeros, compressed_samples, forks_with_mappings, random_chains,
    chains_of_markers, deep_chains, overlapping_mappings, mappings_over_all, many_libraries, many_processes,
    times_in_reverse, names_of_simpleperf, updates_of_a_pipe)}


def perf_map(size):
    """As many short pieces of code as fit, at ascending addresses."""
    line = b"%x 1 a\n"
    return b"".join(line % (CODE_AVMA + i) for i in range(size // 17))


def jitdump(size):
    """Pieces of code that all overlap, each later than the one before."""
    header = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 1, 0, 0)
    name = b"f\0"
    out = [header]
    for i in range(size // (56 + len(name))):
        body = struct.pack("<IIQQQQ", 1, 1, CODE_AVMA + i, CODE_AVMA + i, 1 << 29, i) + name
        out.append(struct.pack("<IIQ", 0, 16 + len(body), i) + body)
    return b"".join(out)


def capture_of_pids(pids, extra=b""):
    """Samples of many addresses in each of these processes, in no known file."""
    return capture(extra + b"".join(sample(pid, 1 << 40, [CODE_AVMA + 4096 * i + depth for depth in range(64)])
                                    for pid in pids for i in range(40)))

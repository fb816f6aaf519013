# SPDX-License-Identifier: MIT
"""Core files of at most 10 MiB whose threads, mappings and segments are as many, and as costly together, as fit."""
import struct

LARGEST_BYTES = 10 << 20
PAGE = 4096
CODE_AVMA, STACK_AVMA = 0x400000, 0x7f0000000000
PRSTATUS, FILES = 1, 0x46494c45
LOAD, NOTE = 1, 4
READ, WRITE, EXECUTE = 4, 2, 1


def note(kind, description):
    return struct.pack("<III", 5, len(description), kind) + b"CORE\0\0\0\0" + description + bytes(-len(description) & 3)


def thread(tid, pc, sp):
    status = bytearray(336)  # struct elf_prstatus
    struct.pack_into("<i", status, 32, tid)  # pr_pid
    struct.pack_into("<Q", status, 112 + 8 * 16, pc)  # pr_reg: rip
    struct.pack_into("<Q", status, 112 + 8 * 19, sp)  # rsp
    return note(PRSTATUS, bytes(status))


def files(mappings):
    """Of (start, end, page, path)."""
    words = b"".join(struct.pack("<QQQ", *mapping[:3]) for mapping in mappings)
    paths = b"".join(mapping[3] + b"\0" for mapping in mappings)
    return note(FILES, struct.pack("<QQ", len(mappings), PAGE) + words + paths)


def core(notes, segments, memory=b""):
    """Segments of (flags, avma, bytes), all with the same content, at the end of the file."""
    headers_bytes = 56 * (len(segments) + 1)
    notes_at = 64 + headers_bytes
    memory_at = (notes_at + len(notes) + PAGE - 1) // PAGE * PAGE
    headers = struct.pack("<IIQQQQQQ", NOTE, 0, notes_at, 0, 0, len(notes), 0, 0)
    headers += b"".join(struct.pack("<IIQQQQQQ", LOAD, flags, memory_at, avma, 0, size, size, 0)
                        for flags, avma, size in segments)
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(segments) + 1, 0, 0, 0)  # ET_CORE, x86-64
    content = (head + headers + notes).ljust(memory_at, b"\0") + memory
    assert len(content) <= LARGEST_BYTES
    return content


def threads_that_share_a_stack():
    stack = 5 << 20
    notes = b"".join(thread(tid, CODE_AVMA, STACK_AVMA) for tid in range(1, 14000))
    return core(notes, [(READ | WRITE, STACK_AVMA, stack)], bytes(stack))


def threads_with_deep_stacks():
    """Each word is a return address; every thread is elsewhere."""
    stack = 1 << 20
    words = b"".join(struct.pack("<QQ", STACK_AVMA + 16 * i + 16, CODE_AVMA + i) for i in range(stack // 16))
    notes = b"".join(thread(tid, CODE_AVMA + tid, STACK_AVMA + 16 * tid) for tid in range(1, 22000))
    return core(notes, [(READ | WRITE, STACK_AVMA, stack), (READ | EXECUTE, CODE_AVMA, stack)], words)


def threads_and_segments():
    segments = [(READ | WRITE, STACK_AVMA + 2 * PAGE * i, 1) for i in range(65000)]
    notes = b"".join(thread(tid, CODE_AVMA + tid, STACK_AVMA + 2 * PAGE * 64999) for tid in range(1, 17000))
    return core(notes, segments, b"x")


def mappings_of(path, count, page):
    return [(CODE_AVMA + 2 * PAGE * i, CODE_AVMA + 2 * PAGE * i + PAGE, page, path) for i in range(count)]


def mappings_of_one_program():
    return core(thread(1, CODE_AVMA, STACK_AVMA) + files(mappings_of(b"/bin/true", 280000, 1)), [])


def mappings_of_no_file_and_segments():
    segments = [(READ | EXECUTE, CODE_AVMA + 2 * PAGE * i + PAGE, 0) for i in range(65000)]
    return core(thread(1, CODE_AVMA, STACK_AVMA) + files(mappings_of(b"", 240000, 0)), segments)


def mappings_of_many_files():
    paths = [b"/%x" % i for i in range(200000)]
    mappings = [(start, end, page, path) for (start, end, page, _), path in zip(mappings_of(b"", len(paths), 0), paths)]
    return core(thread(1, CODE_AVMA, STACK_AVMA) + files(mappings), [(READ | EXECUTE, CODE_AVMA, PAGE)], bytes(PAGE))


CORES = {make.__name__: make for make in (
    threads_that_share_a_stack, threads_with_deep_stacks, threads_and_segments, mappings_of_one_program,
    mappings_of_no_file_and_segments, mappings_of_many_files)}

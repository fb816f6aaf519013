# SPDX-License-Identifier: MIT
"""Damages the sections of an ELF file in place of a linker: what no compiler writes.

    elf = Elf(path)
    elf.replace(".debug_info", bytes, compressed=...)
    elf.write(path)
"""
import struct

SHF_COMPRESSED = 1 << 11
HEADER = struct.Struct("<IIQQQQIIQQ")  # name type flags addr offset size link info align entsize


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        self.table, = struct.unpack_from("<Q", self.bytes, 40)
        self.count, names = struct.unpack_from("<HH", self.bytes, 60)
        start = self.field(names, 4)
        self.index = {}
        for i in range(self.count):
            at = start + self.field(i, 0)
            self.index[self.bytes[at:self.bytes.index(0, at)].decode()] = i

    def field(self, section, number):
        return HEADER.unpack_from(self.bytes, self.table + 64 * section)[number]

    def set_field(self, name, number, value):
        at = self.table + 64 * self.index[name]
        fields = list(HEADER.unpack_from(self.bytes, at))
        fields[number] = value
        HEADER.pack_into(self.bytes, at, *fields)

    def content(self, name):
        offset, size = self.field(self.index[name], 4), self.field(self.index[name], 5)
        return bytes(self.bytes[offset:offset + size])

    def replace(self, name, content, is_compressed=False):
        """The new content goes to the end of the file."""
        self.bytes += bytes(-len(self.bytes) % 16)
        self.set_field(name, 4, len(self.bytes))
        self.set_field(name, 5, len(content))
        self.set_field(name, 2, SHF_COMPRESSED if is_compressed else 0)
        self.bytes += content

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes)


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(out)


def compressed(method, size, content):
    """Elf64_Chdr and what it says is there."""
    return struct.pack("<IIQQ", method, 0, size, 1) + content


def unit(dies, version=4, length=None):
    """A compile unit of 32-bit DWARF, with 8-byte addresses; its abbreviations are at 0."""
    body = struct.pack("<HIB", version, 0, 8) + dies
    return struct.pack("<I", len(body) if length is None else length) + body


UNIT_HEADER_BYTES = 11


def abbreviation(code, tag, has_children, *attributes):
    """attributes: (name, form)"""
    out = uleb(code) + uleb(tag) + bytes([has_children])
    for name, form in attributes:
        out += uleb(name) + uleb(form)
    return out + b"\0\0"


PAGE_BYTES = 4096
COUNTS_DOWN = bytes([0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3])  # dec %rdi; jnz; ret


def segment(kind, flags, size):
    """Of the file's first bytes, at address 0."""
    return struct.pack("<IIQQQQQQ", kind, flags, 0, 0, 0, size, size, PAGE_BYTES)


def section(kind, offset, size, link=0):
    return HEADER.pack(0, kind, 0, 0, offset, size, link, 0, 8, 24)


def library(path, size, segments, sections=(), parts=()):
    """Without a linker: the first page ends with code that runs_files calls. parts: (offset, bytes). The segments are
    behind the parts, the sections at the end: the file is larger than size."""
    headers = b"".join(segments), b"".join(sections)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, size, size + len(headers[0]), 0, 64, 56, len(segments), 64, len(sections), 0)
    with open(path, "wb") as file:
        file.write(header)
        for offset, content in ((PAGE_BYTES - 16, COUNTS_DOWN), *parts, (size, b"".join(headers))):
            file.seek(offset)
            file.write(content)

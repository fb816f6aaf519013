# SPDX-License-Identifier: MIT
"""ELF files of a few MiB whose symbols are expensive to look up, with the addresses to look up.

    FILES[kind](path) -> svmas; the file is written to path
"""
import struct

import bad_elf

BASE_SVMA = 0x400000
CODE_AT = 0x1000
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, DYNSYM = 1, 2, 3, 4, 8, 11
ALLOCATED, EXECUTABLE = 2, 4
GLOBAL_FUNCTION = 1 << 4 | 2
JUMP_SLOT = 7
LOOKUPS = 20000
COMPILE_UNIT, SUBPROGRAM, VARIABLE = 0x11, 0x2e, 0x34
LOW_PC, HIGH_PC, EXTERNAL, RANGES = 0x11, 0x12, 0x3f, 0x55
ADDR, DATA8, SEC_OFFSET, FLAG_PRESENT = 1, 7, 0x17, 0x19


class File:
    """Sections in the order of their addition; the first one has index 1."""

    def __init__(self, memory_bytes=1 << 28):
        self.memory_bytes = memory_bytes
        self.contents = bytearray(CODE_AT)
        self.sections, self.names = [bytes(64)], bytearray(b"\0")

    def store(self, content):
        self.contents += bytes(-len(self.contents) % 16)
        self.contents += content
        return len(self.contents) - len(content)

    def add(self, name, kind, place, flags=0, svma=0, link=0, entry_bytes=0):
        """place: (offset, bytes)"""
        at = self.names.find(name.encode() + b"\0")
        if at < 0:
            at = len(self.names)
            self.names += name.encode() + b"\0"
        self.sections.append(struct.pack("<IIQQQQIIQQ", at, kind, flags, svma, *place, link, 0, 8, entry_bytes))
        return len(self.sections) - 1

    def add_content(self, name, kind, content, **fields):
        return self.add(name, kind, (self.store(content), len(content)), **fields)

    def write(self, path):
        names_at = self.store(self.names + b".names\0")
        self.sections.append(struct.pack("<IIQQQQIIQQ", len(self.names), STRTAB, 0, 0, names_at, len(self.names) + 7, 0, 0, 1, 0))
        table_at = self.store(b"".join(self.sections))
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE_SVMA, BASE_SVMA, len(self.contents), self.memory_bytes, 0x1000)
        self.contents[:120] = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, 62, 1, BASE_SVMA + CODE_AT, 64, table_at, 0, 64, 56, 1, 64, len(self.sections),
            len(self.sections) - 1) + load
        with open(path, "wb") as file:
            file.write(self.contents)


def symbol(name_at, svma, size):
    return struct.pack("<IBBHQQ", name_at, GLOBAL_FUNCTION, 0, 1, svma, size)


def write_symbols(path, symbols, names):
    """Section 1 is the code."""
    file = File()
    file.add(".text", NOBITS, (CODE_AT, 1 << 27), flags=ALLOCATED | EXECUTABLE, svma=BASE_SVMA + CODE_AT)
    file.add_content(".strtab", STRTAB, names)
    file.add_content(".symtab", SYMTAB, bytes(24) + b"".join(symbols), link=2, entry_bytes=24)
    file.write(path)


def symbols_of_one_place(path):
    """The last one by name is the only one that reaches beyond the first byte."""
    count, start = 300000, BASE_SVMA + CODE_AT
    write_symbols(path, [symbol(1, start, 1)] * count + [symbol(3, start, 1 << 20)], b"\0a\0zz\0")
    return range(start, start + LOOKUPS)


def nested_symbols(path):
    """Each ends before the one around: the outermost one alone reaches to the addresses."""
    count, start = 300000, BASE_SVMA + CODE_AT
    symbols = [symbol(1, start + i, 2 * (count - i)) for i in range(count)] + [symbol(3, start - 1, 1 << 26)]
    write_symbols(path, symbols, b"\0a\0zz\0")
    return [start + count, *range(start + 2 * count, start + 2 * count + LOOKUPS)]


def stubs_of_one_slot(path):
    """No relocation of the slot has a name."""
    stubs, start = LOOKUPS, BASE_SVMA + CODE_AT
    slot = start + (1 << 24)
    code = b"".join(b"\xff\x25" + struct.pack("<i", slot - (start + 8 * i + 6)) + b"\x90\x90" for i in range(stubs))
    file = File()
    file.add_content(".plt", PROGBITS, code, flags=ALLOCATED | EXECUTABLE, svma=start, entry_bytes=8)
    file.add_content(".dynstr", STRTAB, b"\0")
    file.add_content(".dynsym", DYNSYM, bytes(24), link=2, entry_bytes=24)
    file.add_content(".rela.plt", RELA, struct.pack("<QQq", slot, JUMP_SLOT, 0) * 300000, link=3, entry_bytes=24)
    file.write(path)
    return range(start, start + 8 * stubs, 8)


def relocations_of_many_sections(path):
    """All sections have the same content."""
    start = BASE_SVMA + CODE_AT
    file = File()
    file.add_content(".plt", PROGBITS, b"\xff\x25" + bytes(6), flags=ALLOCATED | EXECUTABLE, svma=start, entry_bytes=8)
    relocations = struct.pack("<QQq", 0, JUMP_SLOT, 0) * 100000
    place = file.store(relocations), len(relocations)
    for _ in range(20000):
        file.add(".rela", RELA, place, entry_bytes=24)
    file.write(path)
    return [start]


def stubs_of_many_sections(path):
    start = BASE_SVMA + CODE_AT
    code = (b"\xff\x25" + bytes(6)) * 100000
    file = File()
    place = file.store(code), len(code)
    for _ in range(20000):
        file.add(".plt", PROGBITS, place, flags=ALLOCATED | EXECUTABLE, svma=start, entry_bytes=8)
    file.add_content(".rela.plt", RELA, bytes(24), entry_bytes=24)
    file.write(path)
    return range(start, start + 8 * 100, 8)


def sections_without_the_address(path):
    start = BASE_SVMA + CODE_AT
    file = File()
    for _ in range(60000):
        file.add(".text", NOBITS, (CODE_AT, 16), flags=ALLOCATED | EXECUTABLE, svma=start)
    file.write(path)
    return range(start + 16, start + 16 + LOOKUPS)


def endless_augmentation(path):
    """The records of all functions share one CIE, whose letters have no end."""
    start = BASE_SVMA + CODE_AT
    header_svma, letters = BASE_SVMA + (1 << 25), b"a" * (8 << 20)
    records_svma = header_svma + (1 << 20)
    cie = struct.pack("<IIB", 0x7fffffff, 0, 1) + letters + b"\0\0\0"
    record = struct.pack("<III", 0x18, len(cie) + 4, 0) + struct.pack("<I", 1 << 26)
    entries = b"".join(struct.pack("<ii", start + 16 * i - header_svma, records_svma + len(cie) - header_svma)
                       for i in range(LOOKUPS))
    header = struct.pack("<BBBBiI", 1, 0x1b, 0x03, 0x3b, records_svma - header_svma - 4, LOOKUPS) + entries
    file = File()
    file.add_content(".eh_frame_hdr", PROGBITS, header, flags=ALLOCATED, svma=header_svma)
    file.add_content(".eh_frame", PROGBITS, cie + record, flags=ALLOCATED, svma=records_svma)
    file.write(path)
    return range(start, start + 16 * LOOKUPS, 16)


def debug_info(path, abbreviations, units, **sections):
    """Units of version 4."""
    file = File()
    file.add(".text", NOBITS, (CODE_AT, 1 << 27), flags=ALLOCATED | EXECUTABLE, svma=BASE_SVMA + CODE_AT)
    for name, content in {"abbrev": abbreviations, "info": units, **sections}.items():
        file.add_content(f".debug_{name}", PROGBITS, content)
    file.write(path)


def one_unit(dies):
    return bad_elf.unit(b"\1" + struct.pack("<QQ", BASE_SVMA + CODE_AT, 1 << 26) + dies + b"\0")


def many_units(path, abbreviations):
    """Of one byte of code each."""
    start, units, ranges = BASE_SVMA + CODE_AT, bytearray(), bytearray()
    for svma in range(start, start + LOOKUPS):
        body = struct.pack("<HIBB4xQQQQ", 2, len(units), 8, 0, svma, 1, 0, 0)
        ranges += struct.pack("<I", len(body)) + body
        units += bad_elf.unit(b"\1" + struct.pack("<Q", svma))
    debug_info(path, abbreviations, bytes(units), aranges=bytes(ranges))
    return range(start, start + LOOKUPS)


UNIT_WITH_CODE = bad_elf.abbreviation(1, COMPILE_UNIT, 1, (LOW_PC, ADDR), (HIGH_PC, DATA8))


def endless(code, tag):
    declaration = bad_elf.abbreviation(code, tag, 0, (LOW_PC, ADDR))
    return declaration[:-2] + bytes((EXTERNAL, FLAG_PRESENT)) * 1000000 + declaration[-2:]


def ranges_of_many_functions(path, count=100000):
    """All have the same list, of empty ranges."""
    abbreviations = UNIT_WITH_CODE + bad_elf.abbreviation(2, SUBPROGRAM, 0, (RANGES, SEC_OFFSET)) + b"\0"
    ranges = struct.pack("<QQ", 16, 16) * count + bytes(16)
    debug_info(path, abbreviations, one_unit((b"\2" + bytes(4)) * count), ranges=ranges)
    return [BASE_SVMA + CODE_AT]


def functions_with_endless_attributes(path):
    abbreviations = UNIT_WITH_CODE + endless(2, SUBPROGRAM) + b"\0"
    start = BASE_SVMA + CODE_AT
    functions = b"".join(b"\2" + struct.pack("<Q", svma) for svma in range(start, start + LOOKUPS))
    debug_info(path, abbreviations, one_unit(functions))
    return range(start, start + LOOKUPS)


def units_with_endless_attributes(path):
    return many_units(path, endless(1, COMPILE_UNIT) + b"\0")


def units_of_one_large_table(path):
    others = b"".join(bad_elf.abbreviation(code, VARIABLE, 0) for code in range(2, 800000))
    return many_units(path, bad_elf.abbreviation(1, COMPILE_UNIT, 0, (LOW_PC, ADDR)) + others + b"\0")


FILES = {make.__name__: make for make in (symbols_of_one_place, nested_symbols, stubs_of_one_slot,
                                          relocations_of_many_sections, stubs_of_many_sections,
                                          sections_without_the_address, endless_augmentation,
                                          ranges_of_many_functions, functions_with_endless_attributes,
                                          units_with_endless_attributes, units_of_one_large_table)}
# Debug info that is not read to its end.
CUT = {"ranges_of_many_functions", "units_with_endless_attributes", "units_of_one_large_table"}

/* SPDX-License-Identifier: MIT */
#include "symbols/die_walk.h"

#include "symbols/die_abbreviations.h"

#include <dwarf.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>

/* The bytes of the section that an address lies in. */
static struct cursor section_of(Elf *elf, const uint8_t *address)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return (struct cursor){0};
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type == SHT_NOBITS || !strstr(name, "debug_"))
            continue;
        if (!strstr(name, "debug_info") && !strstr(name, "debug_types"))
            continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        const uint8_t *bytes = data ? data->d_buf : NULL;
        if (bytes && address >= bytes && address < bytes + data->d_size)
            return cursor_of(bytes, data->d_size);
    }
    return (struct cursor){0};
}

/* From a unit's header to its DIE. */
static Dwarf_Off header_bytes(Dwarf_CU *cu)
{
    Dwarf_Half version;
    uint8_t unit_type, offset_bytes;
    if (dwarf_cu_info(cu, &version, &unit_type, NULL, NULL, NULL, NULL, &offset_bytes) != 0)
        return 0;
    Dwarf_Off length_bytes = offset_bytes == 8 ? 12 : 4;
    Dwarf_Off bytes = length_bytes + 2u + offset_bytes + (version < 5 ? 1u : 2u);
    if (version >= 5 && (unit_type == DW_UT_skeleton || unit_type == DW_UT_split_compile))
        bytes += 8;
    return bytes;
}

/* The unit from its header on; empty when its extent is not what its header says. */
static struct cursor unit_bytes(const Dwarf_Die *unit)
{
    Dwarf_Die die = *unit;
    Dwarf *dwarf = dwarf_cu_getdwarf(die.cu);
    struct cursor section = section_of(dwarf_getelf(dwarf), die.addr);
    Dwarf_Off header = header_bytes(die.cu), offset = dwarf_dieoffset(&die), next;
    size_t found_header;
    if (!section.bytes || header == 0 || offset < header ||
        section.bytes + offset != (const uint8_t *)die.addr ||
        dwarf_next_unit(dwarf, offset - header, &next, &found_header, NULL, NULL, NULL, NULL, NULL,
                        NULL) != 0 ||
        found_header != header || next < offset)
        return (struct cursor){0};
    if (next > section.size)
        next = section.size;
    struct cursor bytes = cursor_of(section.bytes + offset - header, next - (offset - header));
    cursor_skip(&bytes, header);
    return bytes;
}

void die_walk_end(struct die_walk *walk)
{
    die_abbreviations_free(walk->abbreviations);
    walk->abbreviations = NULL;
}

/* Reads the abbreviation code where the cursor stands; null entries close the lists they end. */
static bool read_code(struct die_walk *walk)
{
    for (;;) {
        const uint8_t *address = walk->unit.bytes + walk->unit.at;
        uint64_t code = cursor_left(&walk->unit) ? cursor_uleb128(&walk->unit) : 0;
        if (code == 0) {
            if (walk->depth <= 1 || cursor_left(&walk->unit) == 0)
                return false;
            walk->depth--;
            continue;
        }
        const struct die_abbreviation *abbreviation =
            walk->unit.failed ? NULL : die_abbreviation_find(walk->abbreviations, code);
        if (!abbreviation)
            return false;
        walk->code = (uint32_t)code;
        walk->tag = abbreviation->tag;
        walk->has_children = abbreviation->has_children;
        walk->has_code = abbreviation->has_code;
        walk->die = (Dwarf_Die){.addr = (void *)(uintptr_t)address, .cu = walk->die.cu};
        return true;
    }
}

struct die_walk die_walk_start(const Dwarf_Die *unit)
{
    struct die_walk walk = {.die = *unit, .unit = unit_bytes(unit)};
    if (walk.unit.bytes)
        walk.abbreviations = die_abbreviations_read(unit);
    if (walk.abbreviations && !read_code(&walk))
        die_walk_end(&walk);
    return walk;
}

/* Moves behind the DIE, or with `descend` to its first child. */
static bool step(struct die_walk *walk, bool descend)
{
    const struct die_abbreviation *abbreviation =
        die_abbreviation_find(walk->abbreviations, walk->code);
    uint64_t sibling;
    die_abbreviation_skip(walk->abbreviations, abbreviation, &walk->unit, &sibling);
    if (walk->unit.failed)
        return false;
    if (abbreviation->has_children && !descend && sibling > walk->unit.at &&
        sibling < walk->unit.size)
        cursor_seek(&walk->unit, sibling);
    else if (abbreviation->has_children)
        walk->depth++;
    return read_code(walk);
}

bool die_walk_next(struct die_walk *walk, bool descend)
{
    unsigned depth = walk->depth;
    if (!walk->abbreviations || (depth == 0 && !descend))
        return false;
    bool has_more = step(walk, descend);
    while (has_more && !descend && walk->depth > depth)
        has_more = step(walk, false);
    return has_more && walk->depth > 0;
}

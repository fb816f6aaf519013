/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/die_walk.h"

#include "symbols/dwarf/die_abbreviations.h"

#include <dwarf.h>
#include <gelf.h>
#include <stddef.h>
#include <string.h>

/* The next section with bytes in the file; NULL: the end. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, const char **name)
{
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        *name = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS
                    ? elf_strptr(elf, names, header.sh_name)
                    : NULL;
        if (*name)
            return section;
    }
    return NULL;
}

static struct cursor bytes_of(Elf_Scn *section)
{
    const Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf ? cursor_of(data->d_buf, data->d_size) : (struct cursor){0};
}

/* The bytes of the section around an address. */
static struct cursor section_of(Elf *elf, const uint8_t *address, const char **name)
{
    Elf_Scn *section = NULL;
    while ((section = next_section(elf, section, name))) {
        if (!strstr(*name, "debug_info") && !strstr(*name, "debug_types"))
            continue;
        struct cursor c = bytes_of(section);
        if (c.bytes && address >= c.bytes && address < c.bytes + c.size)
            return c;
    }
    return (struct cursor){0};
}

/* A file may have both plain and split units, with sections of different names. */
static struct cursor abbreviations_of(Elf *elf, const char *section_of_unit)
{
    Elf_Scn *section = NULL;
    const char *name;
    while ((section = next_section(elf, section, &name)))
        if (strstr(name, "debug_abbrev") &&
            !strstr(name, ".dwo") == !strstr(section_of_unit, ".dwo"))
            return bytes_of(section);
    return (struct cursor){0};
}

/* Distance from a unit's header to its DIE: DWARF 5, 7.5.1. */
static Dwarf_Off header_bytes(unsigned version, uint8_t unit_type, uint8_t offset_bytes)
{
    Dwarf_Off length_bytes = offset_bytes == 8 ? 12 : 4;
    Dwarf_Off bytes = length_bytes + 2u + offset_bytes + (version < 5 ? 1u : 2u);
    if (version >= 5 && (unit_type == DW_UT_skeleton || unit_type == DW_UT_split_compile))
        bytes += 8;
    return bytes;
}

/* Finds the unit's bytes and abbreviations; false: the header states another extent. */
static bool open_unit(struct die_walk *walk)
{
    Dwarf_Half version;
    uint8_t unit_type, address_bytes, offset_bytes;
    const char *name;
    Dwarf *dwarf = dwarf_cu_getdwarf(walk->die.cu);
    struct cursor section = section_of(dwarf_getelf(dwarf), walk->die.addr, &name);
    if (!section.bytes || dwarf_cu_info(walk->die.cu, &version, &unit_type, NULL, NULL, NULL,
                                        &address_bytes, &offset_bytes) != 0)
        return false;
    Dwarf_Off header = header_bytes(version, unit_type, offset_bytes);
    Dwarf_Off offset = dwarf_dieoffset(&walk->die), next, table_offset;
    size_t found_header;
    if (offset < header || section.bytes + offset != (const uint8_t *)walk->die.addr ||
        dwarf_next_unit(dwarf, offset - header, &next, &found_header, NULL, &table_offset, NULL,
                        NULL, NULL, NULL) != 0 ||
        found_header != header || next < offset)
        return false;
    if (next > section.size)
        next = section.size;
    walk->unit = cursor_of(section.bytes + offset - header, next - (offset - header));
    cursor_skip(&walk->unit, header);
    struct cursor table = abbreviations_of(dwarf_getelf(dwarf), name);
    cursor_seek(&table, table_offset);
    walk->abbreviations = die_abbreviations_read(table, version, address_bytes, offset_bytes);
    return walk->abbreviations != NULL;
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
        if (code == 0 && !walk->unit.failed) {
            if (walk->depth <= 1 || cursor_left(&walk->unit) == 0)
                return false;
            walk->depth--;
            continue;
        }
        const struct die_abbreviation *abbreviation =
            walk->unit.failed ? NULL : die_abbreviation_find(walk->abbreviations, code);
        if (!abbreviation) {
            walk->is_damaged = true;
            return false;
        }
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
    struct die_walk walk = {.die = *unit};
    if (!open_unit(&walk))
        walk.is_damaged = true;
    else if (!read_code(&walk))
        die_walk_end(&walk);
    return walk;
}

/* Moves behind the DIE, or with `descend` to the first child. DW_AT_sibling is followed forward and
 * inside of the unit only. */
static bool step(struct die_walk *walk, bool descend)
{
    const struct die_abbreviation *abbreviation =
        die_abbreviation_find(walk->abbreviations, walk->code);
    uint64_t sibling;
    die_abbreviation_skip(walk->abbreviations, abbreviation, &walk->unit, &sibling);
    if (walk->unit.failed) {
        walk->is_damaged = true;
        return false;
    }
    if (abbreviation->has_children && !descend && sibling > walk->unit.at &&
        sibling < walk->unit.size)
        cursor_seek(&walk->unit, sibling);
    else if (abbreviation->has_children)
        walk->depth++;
    return read_code(walk);
}

/* Without a usable DW_AT_sibling, a subtree is left out DIE by DIE. */
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

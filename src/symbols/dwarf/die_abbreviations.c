/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/die_abbreviations.h"

#include "base/containers/array.h"

#include <dwarf.h>
#include <stdlib.h>

/* Compilers number codes from 1. Larger codes are ignored and tables are bounded: a thousand units
 * may share a table. */
enum { LARGEST_CODE = 1 << 20, TABLE_BYTES_MAX = 4 << 20, SIZE_VARIES = UINT32_MAX };
/* Compilers write 30 attributes at most; a lookup of an attribute takes a scan. */
enum { ATTRIBUTES_MAX = 512 };

void die_abbreviations_free(struct die_abbreviations *abbreviations)
{
    if (!abbreviations)
        return;
    free(abbreviations->by_code);
    free(abbreviations->steps);
    free(abbreviations);
}

/* DWARF 5, 7.5.6, and GNU's forms for supplements. DW_FORM_ref_addr has the size of an address in
 * DWARF 2, and of an offset since DWARF 3. */
static uint32_t form_bytes(const struct die_abbreviations *abbreviations, uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return abbreviations->address_bytes;
    case DW_FORM_ref_addr:
        return abbreviations->version < 3 ? abbreviations->address_bytes
                                          : abbreviations->offset_bytes;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return abbreviations->offset_bytes;
    default:
        return SIZE_VARIES;
    }
}

/* Adds an attribute. Neighbours of fixed size become one step. */
static bool add_step(struct die_abbreviations *abbreviations, struct die_abbreviation *abbreviation,
                     uint64_t name, uint64_t form)
{
    uint32_t bytes = form_bytes(abbreviations, form);
    bool is_sibling = name == DW_AT_sibling;
    bool is_plain = bytes != SIZE_VARIES && !is_sibling;
    struct die_step *last =
        abbreviation->step_count ? &abbreviations->steps[abbreviations->step_count - 1] : NULL;
    if (is_plain && last && last->form == 0) {
        last->bytes += bytes;
        return true;
    }
    struct die_step *step =
        ARRAY_PUSH(abbreviations->steps, abbreviations->step_count, abbreviations->step_capacity);
    if (!step)
        return false;
    step->form = is_plain ? 0 : (uint16_t)form;
    step->is_sibling = is_sibling;
    step->bytes = bytes;
    abbreviation->step_count++;
    return true;
}

/* Up to a pair of zeros. The value of DW_FORM_implicit_const is here, not in the DIE. */
static bool add_steps(struct die_abbreviations *abbreviations,
                      struct die_abbreviation *abbreviation, struct cursor *c)
{
    for (int count = 0;; count++) {
        uint64_t name = cursor_uleb128(c), form = cursor_uleb128(c);
        c->failed |= count > ATTRIBUTES_MAX;
        if (form == DW_FORM_implicit_const)
            (void)cursor_sleb128(c);
        if (c->failed || (name == 0 && form == 0))
            return true;
        if (!add_step(abbreviations, abbreviation, name, form < UINT16_MAX ? form : UINT16_MAX))
            return false;
        abbreviation->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
    }
}

/* The place of a code, unless the code is too large or taken: the first definition counts. */
static struct die_abbreviation *place_for(struct die_abbreviations *abbreviations, uint64_t code,
                                          struct die_abbreviation *other)
{
    while (code <= LARGEST_CODE && abbreviations->count <= code)
        if (!ARRAY_PUSH(abbreviations->by_code, abbreviations->count, abbreviations->capacity))
            return NULL;
    bool is_new = code <= LARGEST_CODE && abbreviations->by_code[code].tag == 0;
    return is_new ? &abbreviations->by_code[code] : other;
}

static bool add_abbreviation(struct die_abbreviations *abbreviations, uint64_t code,
                             struct cursor *c)
{
    struct die_abbreviation other, *abbreviation = place_for(abbreviations, code, &other);
    if (!abbreviation)
        return false;
    uint64_t tag = cursor_uleb128(c);
    *abbreviation = (struct die_abbreviation){.tag = tag < UINT32_MAX ? (uint32_t)tag : UINT32_MAX,
                                              .has_children = cursor_u8(c) != 0,
                                              .first_step = (uint32_t)abbreviations->step_count};
    bool has_room = add_steps(abbreviations, abbreviation, c);
    if (c->failed)
        abbreviation->tag = 0;
    return has_room;
}

/* DWARF 5, 7.5.3: declarations up to a code of 0. */
struct die_abbreviations *die_abbreviations_read(struct cursor table, unsigned version,
                                                 uint8_t address_bytes, uint8_t offset_bytes)
{
    struct die_abbreviations *abbreviations = calloc(1, sizeof(*abbreviations));
    if (!abbreviations)
        return NULL;
    if (cursor_left(&table) > TABLE_BYTES_MAX)
        table.size = table.at + TABLE_BYTES_MAX;
    abbreviations->version = version;
    abbreviations->address_bytes = address_bytes;
    abbreviations->offset_bytes = offset_bytes;
    uint64_t code;
    while ((code = cursor_uleb128(&table)) != 0) {
        if (add_abbreviation(abbreviations, code, &table))
            continue;
        die_abbreviations_free(abbreviations);
        return NULL;
    }
    return abbreviations;
}

const struct die_abbreviation *die_abbreviation_find(const struct die_abbreviations *abbreviations,
                                                     uint64_t code)
{
    if (code >= abbreviations->count || abbreviations->by_code[code].tag == 0)
        return NULL;
    return &abbreviations->by_code[code];
}

static uint64_t read_fixed(struct cursor *c, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16(c);
    case 4:
        return cursor_u32(c);
    case 8:
        return cursor_u64(c);
    default:
        cursor_skip(c, bytes);
        return 0;
    }
}

/* Skips a value of variable size. */
static void skip_form(const struct die_abbreviations *abbreviations, unsigned form,
                      struct cursor *c)
{
    if (form == DW_FORM_indirect)
        form = (unsigned)cursor_uleb128(c);
    uint32_t bytes = form_bytes(abbreviations, form);
    if (bytes != SIZE_VARIES) {
        cursor_skip(c, bytes);
        return;
    }
    switch (form) {
    case DW_FORM_string:
        (void)cursor_string(c);
        break;
    case DW_FORM_block1:
        cursor_skip(c, cursor_u8(c));
        break;
    case DW_FORM_block2:
        cursor_skip(c, cursor_u16(c));
        break;
    case DW_FORM_block4:
        cursor_skip(c, cursor_u32(c));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        cursor_skip(c, cursor_uleb128(c));
        break;
    case DW_FORM_sdata:
        (void)cursor_sleb128(c);
        break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        (void)cursor_uleb128(c);
        break;
    default:
        c->failed = true;
    }
}

/* *sibling: 0 without DW_AT_sibling, and for a reference to another unit. */
void die_abbreviation_skip(const struct die_abbreviations *abbreviations,
                           const struct die_abbreviation *abbreviation, struct cursor *c,
                           uint64_t *sibling)
{
    *sibling = 0;
    for (uint32_t i = 0; i < abbreviation->step_count; i++) {
        const struct die_step *step = &abbreviations->steps[abbreviation->first_step + i];
        if (step->form == 0)
            cursor_skip(c, step->bytes);
        else if (step->is_sibling && step->form == DW_FORM_ref_udata)
            *sibling = cursor_uleb128(c);
        else if (step->is_sibling && step->bytes != SIZE_VARIES && step->form != DW_FORM_ref_addr)
            *sibling = read_fixed(c, step->bytes);
        else
            skip_form(abbreviations, step->form, c);
    }
}

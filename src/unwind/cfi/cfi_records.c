/* SPDX-License-Identifier: MIT */
/*
 * Records of CFI, in the two sections (DWARF 5, 6.4.1; Linux Standard Base Core, ".eh_frame"):
 *
 *     .eh_frame      u32 length │ u32 0: CIE; else FDE, the distance back to the CIE │ body
 *     .debug_frame   u32 length │ u32 ~0: CIE; else FDE, the offset of the CIE       │ body
 *     64-bit         u32 ~0, u64 length; .debug_frame: u64 in place of the second word
 *
 *     CIE body   version, augmentation letters, alignment of code and data, register of the return
 *                address; with letter z, a size and operands of the letters; instructions
 *     FDE body   start, range; with letter z, a size and bytes; instructions
 *
 * Records of length 0 are padding, except at the end of an .eh_frame found without section headers.
 */
#include "unwind/cfi/cfi.h"

#include "unwind/arch/machine.h"

#include <errno.h>
#include <string.h>

/* Encodings of addresses (DW_EH_PE_*; Linux Standard Base Core, "DWARF Exception Header Encoding"):
 * storage in the low four bits, base in the others. STORED_ABSOLUTE: as long as a pointer. */
enum {
    STORED_ABSOLUTE = 0x00,
    STORED_ULEB128 = 0x01,
    STORED_U16 = 0x02,
    STORED_U32 = 0x03,
    STORED_U64 = 0x04,
    STORED_SLEB128 = 0x09,
    STORED_S16 = 0x0a,
    STORED_S32 = 0x0b,
    STORED_S64 = 0x0c,
    STORED_MASK = 0x0f,

    RELATIVE_TO_NOTHING = 0x00,
    RELATIVE_TO_ITSELF = 0x10,
    RELATIVE_MASK = 0xf0,

    ENCODING_OMITTED = 0xff,
};

static uint64_t read_stored(struct cursor *c, uint8_t encoding)
{
    switch (encoding & STORED_MASK) {
    case STORED_ABSOLUTE:
    case STORED_U64:
    case STORED_S64:
        return cursor_u64(c);
    case STORED_ULEB128:
        return cursor_uleb128(c);
    case STORED_SLEB128:
        return (uint64_t)cursor_sleb128(c);
    case STORED_U16:
        return cursor_u16(c);
    case STORED_S16:
        return (uint64_t)(int16_t)cursor_u16(c);
    case STORED_U32:
        return cursor_u32(c);
    case STORED_S32:
        return (uint64_t)(int32_t)cursor_u32(c);
    default:
        c->failed = true;
        return 0;
    }
}

uint64_t cfi_read_address(const struct cfi_section *section, struct cursor *c, uint8_t encoding)
{
    uint64_t field_svma = section->svma + c->at;
    uint64_t stored = read_stored(c, encoding);
    switch (encoding & RELATIVE_MASK) {
    case RELATIVE_TO_NOTHING:
        return stored;
    case RELATIVE_TO_ITSELF:
        return field_svma + stored;
    default: /* relative to the function or the GOT, or indirect: unused by compilers in FDEs */
        c->failed = true;
        return 0;
    }
}

static bool is_cie_id(const struct cfi_section *section, uint64_t id, bool wide)
{
    if (!section->is_debug_frame)
        return id == 0;
    return id == (wide ? UINT64_MAX : UINT32_MAX);
}

/* cie_offset of a hostile distance wraps around, to an offset where no CIE is found. */
enum cfi_next cfi_next_record(const struct cfi_section *section, size_t *at,
                              struct cfi_record *record)
{
    struct cursor c = cursor_of(section->bytes, section->size);
    cursor_seek(&c, *at);
    uint64_t length;
    do {
        if (cursor_left(&c) == 0)
            return CFI_END;
        record->offset = c.at;
        length = cursor_u32(&c);
        if (c.failed)
            return CFI_BROKEN;
        if (length == 0 && section->ends_at_terminator)
            return CFI_END;
    } while (length == 0);

    bool wide = length == UINT32_MAX;
    if (wide)
        length = cursor_u64(&c);
    if (c.failed || length > cursor_left(&c))
        return CFI_BROKEN;
    *at = c.at + (size_t)length;
    record->body = cursor_of(section->bytes, *at);
    record->body.at = c.at;
    size_t id_at = c.at;
    uint64_t id =
        wide && section->is_debug_frame ? cursor_u64(&record->body) : cursor_u32(&record->body);
    record->is_cie = is_cie_id(section, id, wide);
    record->cie_offset = section->is_debug_frame ? id : id_at - id;
    return CFI_RECORD;
}

enum cfi_next cfi_record_at(const struct cfi_section *section, size_t *at,
                            struct cfi_record *record)
{
    const struct cursor c = cursor_of(section->bytes, section->size);
    return cursor_u32_at(&c, *at) ? cfi_next_record(section, at, record) : CFI_BROKEN;
}

/* The letters: Linux Standard Base Core, "The .eh_frame section". S, B and G are newer. Skips the
 * operands of letters without meaning here. */
static void parse_augmentation(const struct cfi_section *section, const char *letters,
                               struct cursor *c, struct cfi_cie *cie)
{
    uint64_t bytes = cursor_uleb128(c);
    struct cursor data = cursor_of(c->bytes, c->at);
    data.at = c->at;
    cursor_skip(c, bytes);
    data.size = c->at;
    for (; *letters; letters++) {
        if (*letters == 'R')
            cie->address_encoding = cursor_u8(&data);
        else if (*letters == 'L')
            cursor_skip(&data, 1);
        else if (*letters == 'P') {
            /* The personality routine: through a pointer as a rule, and of no interest. */
            uint8_t encoding = cursor_u8(&data);
            if (encoding != ENCODING_OMITTED)
                (void)cfi_read_address(section, &data, encoding & STORED_MASK);
        } else if (*letters == 'S')
            cie->is_signal_frame = true;
        else if (*letters != 'B' && *letters != 'G') /* pointer authentication, memory tagging */
            break; /* unknown: the rest is skipped by its total size */
    }
    if (data.failed)
        c->failed = true;
}

/* Version 1: .eh_frame, and DWARF 2; 3: DWARF 3; 4: DWARF 4 and 5 (section 6.4.1). The return
 * address register has a byte in version 1, and a ULEB128 in later versions. */
int cfi_parse_cie(const struct cfi_section *section, struct cfi_record *record, struct cfi_cie *cie)
{
    struct cursor *c = &record->body;
    *cie = (struct cfi_cie){.offset = (uint32_t)record->offset};
    uint8_t version = cursor_u8(c);
    const char *augmentation = cursor_string(c);
    if (!augmentation || (version != 1 && version != 3 && version != 4))
        return -EBADMSG;
    if (strcmp(augmentation, "eh") == 0)
        cursor_skip(c, 8); /* gcc 2: a pointer to exception tables */
    else if (augmentation[0] != 'z' && augmentation[0] != 0)
        return -EBADMSG;
    if (version == 4) {
        uint8_t address_bytes = cursor_u8(c);
        uint8_t segment_selector_bytes = cursor_u8(c);
        if (address_bytes != 8 || segment_selector_bytes != 0)
            return -EBADMSG;
    }
    cie->code_align = cursor_uleb128(c);
    cie->data_align = cursor_sleb128(c);
    uint64_t return_register =
        unwind_machine_register(section->machine, version == 1 ? cursor_u8(c) : cursor_uleb128(c));
    if (augmentation[0] == 'z') {
        cie->has_augmentation_data = true;
        parse_augmentation(section, augmentation + 1, c, cie);
    }
    if (c->failed || return_register >= UNWIND_DWARF_REGS ||
        cursor_left(c) > CFI_CIE_CODE_BYTES_MAX)
        return -EBADMSG;
    cie->return_register = (uint8_t)return_register;
    cie->code = *c;
    return 0;
}

/* The range has the storage of an address, without a base: a size. */
int cfi_parse_fde(const struct cfi_section *section, const struct cfi_cie *cie,
                  struct cfi_record *record, struct cfi_fde *fde)
{
    struct cursor *c = &record->body;
    fde->start_svma = cfi_read_address(section, c, cie->address_encoding);
    uint64_t range_bytes = cfi_read_address(section, c, cie->address_encoding & STORED_MASK);
    if (cie->has_augmentation_data)
        cursor_skip(c, cursor_uleb128(c));
    if (c->failed || __builtin_add_overflow(fde->start_svma, range_bytes, &fde->end_svma))
        return -EBADMSG;
    fde->code = *c;
    return 0;
}

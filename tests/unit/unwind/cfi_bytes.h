/* SPDX-License-Identifier: MIT */
/*
 * Writes .eh_frame and .debug_frame by hand, for tests that say every byte that matters.
 *
 *     struct buffer frame = {0};
 *     size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
 *     add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0x41, 0x0e, 16));
 *     struct unwind_module *module = module_of(&frame);
 */
#pragma once

#include "module_rows.h"

#include "unwind/module_internal.h"

#include <string.h>

/* The text of all these modules: [TEXT, TEXT + 0x10000); the section lies behind it. */
#define TEXT UINT64_C(0x401000)
#define FRAME_SVMA UINT64_C(0x500000)

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Instructions that every CIE of gcc has. */
#define CFA_RSP_8 0x0c, 7, 8      /* DW_CFA_def_cfa rsp, 8 */
#define RA_AT_CFA_MINUS_8 0x90, 1 /* DW_CFA_offset rip, 1 * data alignment (-8) */

/* A length that is filled in by end_record(). */
static inline size_t begin_record(struct buffer *out)
{
    size_t at = out->size;
    buffer_u32(out, 0);
    return at;
}

static inline void end_record(struct buffer *out, size_t at)
{
    uint32_t length = (uint32_t)(out->size - at - 4);
    memcpy(out->bytes + at, &length, sizeof(length));
}

/* id 0, version 1, code alignment 1, data alignment -8, the return address in the given register (16:
 * x86-64); with a 'z', R says 0x1b: 32 bits, relative to themselves. Returns the record's offset. */
static inline size_t add_cie_of(struct buffer *out, const char *augmentation,
                                uint8_t return_register, const uint8_t *code, size_t code_bytes)
{
    size_t at = begin_record(out);
    buffer_u32(out, 0);
    buffer_u8(out, 1);
    buffer_append(out, augmentation, strlen(augmentation) + 1);
    buffer_append(out, BYTES(1, 0x78, return_register));
    if (augmentation[0] == 'z')
        buffer_append(out, BYTES(1, 0x1b));
    buffer_append(out, code, code_bytes);
    end_record(out, at);
    return at;
}

static inline size_t add_cie(struct buffer *out, const char *augmentation, const uint8_t *code,
                             size_t code_bytes)
{
    return add_cie_of(out, augmentation, 16, code, code_bytes);
}

/* For CIEs whose augmentation is zR, perhaps with letters that have no data. */
static inline size_t add_fde(struct buffer *out, size_t cie, uint64_t start, uint32_t range,
                             const uint8_t *code, size_t code_bytes)
{
    size_t at = begin_record(out);
    buffer_u32(out, (uint32_t)(out->size - cie));
    buffer_u32(out, (uint32_t)(start - (FRAME_SVMA + out->size)));
    buffer_u32(out, range);
    buffer_u8(out, 0); /* no augmentation data */
    buffer_append(out, code, code_bytes);
    end_record(out, at);
    return at;
}

#define HEADER_SVMA (FRAME_SVMA + 0x8000)

/* .eh_frame_hdr as linkers begin it; an entry for each of `count` FDEs follows, by their starts. */
static inline void begin_header(struct buffer *header, uint32_t count)
{
    buffer_append(header, BYTES(1, 0x1b, 0x03, 0x3b));
    buffer_u32(header, (uint32_t)(FRAME_SVMA - (HEADER_SVMA + 4)));
    buffer_u32(header, count);
}

static inline void add_header_entry(struct buffer *header, uint64_t start, size_t fde)
{
    buffer_u32(header, (uint32_t)(start - HEADER_SVMA));
    buffer_u32(header, (uint32_t)(FRAME_SVMA + fde - HEADER_SVMA));
}

/* The result of opening; *frame and *debug_frame (NULL: none) are taken over. */
static inline int open_module(struct unwind_module **module, struct buffer *frame,
                              struct buffer *debug_frame)
{
    struct module_bytes bytes = {
        .eh_frame = *frame,
        .eh_frame_svma = FRAME_SVMA,
        .debug_frame = debug_frame ? *debug_frame : (struct buffer){0},
        .text_svma = TEXT,
        .text_bytes = 0x10000,
    };
    *frame = (struct buffer){0};
    return unwind_module_from_bytes(module, &bytes, NULL);
}

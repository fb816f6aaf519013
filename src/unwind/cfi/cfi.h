/* SPDX-License-Identifier: MIT */
/*
 * Parsers of call frame information (CFI), the compiler's description of how to leave a function at
 * each instruction. Launcher side; input is hostile.
 *
 * Vocabulary
 *
 *     section   .eh_frame (loaded, used for exceptions) or .debug_frame (debuggers only): records
 *     CIE       a record shared by functions: alignment factors, encodings, first instructions
 *     FDE       the record of a function: address range, and instructions behind the CIE's
 *     CFA       canonical frame address: SP before the call; base of the other rules
 *     row       the rules for a range of addresses: of the CFA, and of each register
 *
 *     .eh_frame                                        meaning of the FDE's instructions
 *     ┌──────────────────────────────┐
 *     │ length  0   CIE "zR" …       │◀─┐               address   CFA      rbp      rip
 *     ├──────────────────────────────┤  │ offset back   0x1130    rsp+8    same     CFA-8
 *     │ length  ●   FDE 0x1130 +0x42 │──┘               0x1131    rsp+16   CFA-16   CFA-8
 *     │   advance 1, def_cfa_offset… │                  0x1134    rbp+16   CFA-16   CFA-8
 *     ├──────────────────────────────┤                  0x1171    rsp+8    CFA-16   CFA-8
 *     │ length  ●   FDE …            │
 *     ├──────────────────────────────┤                  (after `pop %rbp` the value below SP is
 *     │ 0           terminator       │                   still there: compilers omit `same`)
 *     └──────────────────────────────┘
 *
 * Differences between the sections: .eh_frame has CIE id 0, FDEs point back by a distance from the
 * pointer field, and addresses have the encoding in the CIE's R (mostly 32 bits, relative to the
 * field). .debug_frame has CIE id ~0, FDEs have the CIE's section offset, and addresses are plain.
 * In the 64-bit form of .eh_frame only the length has 64 bits.
 */
#pragma once

#include "base/containers/cursor.h"
#include "unwind/registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_machine;

struct cfi_section {
    const uint8_t *bytes; /* borrowed */
    size_t size;          /* at most CFI_SECTION_BYTES_MAX */
    uint64_t svma;        /* of the first byte; base of relative addresses */
    bool is_debug_frame;
    bool ends_at_terminator; /* the size is only an upper bound: a length of 0 is the end */
    const struct unwind_machine *machine; /* machine of the code; NULL: x86-64 */
};
#define CFI_SECTION_BYTES_MAX (UINT32_C(1) << 28)

/* A CIE's instructions run again for each FDE; compilers write a dozen bytes. */
#define CFI_CIE_CODE_BYTES_MAX 256

struct cfi_cie {
    uint32_t offset;          /* in the section */
    uint8_t section;          /* section number in an index */
    uint8_t address_encoding; /* DW_EH_PE_* of the FDEs' addresses */
    uint8_t return_register;
    bool has_augmentation_data; /* FDEs have an augmentation block, too */
    bool is_signal_frame;       /* the caller was interrupted, instead of having made a call */
    uint64_t code_align;
    int64_t data_align;
    struct cursor code; /* the first instructions; positions are offsets in the section */
};

struct cfi_fde {
    uint64_t start_svma;
    uint64_t end_svma;
    struct cursor code; /* positions are offsets in the section */
};

/* A record behind the id. */
struct cfi_record {
    size_t offset;
    struct cursor body; /* positions are offsets in the section; ends with the record */
    bool is_cie;
    uint64_t cie_offset; /* of an FDE; unchecked */
};

enum cfi_next {
    CFI_RECORD,
    CFI_END,
    CFI_BROKEN, /* a bad length: the rest of the section is lost */
};

/* Reads the head of the record at *at, and moves *at behind the record. Skips terminators: linkers
 * leave some in the middle. */
enum cfi_next cfi_next_record(const struct cfi_section *section, size_t *at,
                              struct cfi_record *record);

/* The same for a place from elsewhere: a terminator there is broken. Otherwise each of many places
 * in a megabyte of zeros would be a search through the zeros. */
enum cfi_next cfi_record_at(const struct cfi_section *section, size_t *at,
                            struct cfi_record *record);

/* 0, or -EBADMSG: malformed, or older than 1990. */
int cfi_parse_cie(const struct cfi_section *section, struct cfi_record *record,
                  struct cfi_cie *cie);
int cfi_parse_fde(const struct cfi_section *section, const struct cfi_cie *cie,
                  struct cfi_record *record, struct cfi_fde *fde);

/* An address in the given encoding, as svma; c fails on malformed data and on encodings that need
 * the process. */
uint64_t cfi_read_address(const struct cfi_section *section, struct cursor *c, uint8_t encoding);

enum cfi_rule_kind {
    CFI_UNSPECIFIED = 0,
    CFI_UNDEFINED,      /* lost; for the return address: there is no caller */
    CFI_SAME,           /* still in the register */
    CFI_OFFSET,         /* saved at CFA + value */
    CFI_VAL_OFFSET,     /* is CFA + value */
    CFI_REGISTER,       /* in register number value */
    CFI_EXPRESSION,     /* saved at the expression's value */
    CFI_VAL_EXPRESSION, /* the expression's value */
};

struct cfi_rule {
    uint32_t kind;  /* enum cfi_rule_kind */
    uint32_t bytes; /* of the expression */
    union {
        int64_t value;
        const uint8_t *expression; /* borrowed from the section */
    };
};

/* Register + offset; or an expression, if not NULL. */
struct cfi_cfa {
    const uint8_t *expression; /* borrowed from the section */
    uint32_t expression_bytes;
    uint32_t reg;
    int64_t offset;
};

struct cfi_row {
    struct cfi_cfa cfa;
    struct cfi_rule regs[UNWIND_DWARF_REGS]; /* rules of other registers are dropped */
};

/* Compilers nest these once. */
#define CFI_REMEMBERED_MAX 16

/*
 * Iteration over the rows of an FDE:
 *
 *     cfi_walk_begin(&walk, section, cie, fde);
 *     while (cfi_walk_next(&walk))
 *         … walk.row holds in [walk.start_svma, walk.end_svma) …
 *     if (walk.failed) …
 *
 * Ranges are not empty, ascend without holes, and lie in the FDE's range.
 */
struct cfi_walk {
    struct cfi_row row;
    uint64_t start_svma;
    uint64_t end_svma;
    bool failed; /* malformed instructions */

    const struct cfi_section *section;
    const struct cfi_cie *cie;
    struct cursor code;
    uint64_t next_svma; /* where the rules being read begin to hold */
    uint64_t fde_end_svma;
    struct cfi_row initial; /* after the CIE's instructions */
    size_t remembered;
    struct cfi_row memory[CFI_REMEMBERED_MAX];
};

void cfi_walk_begin(struct cfi_walk *walk, const struct cfi_section *section,
                    const struct cfi_cie *cie, const struct cfi_fde *fde);
bool cfi_walk_next(struct cfi_walk *walk);

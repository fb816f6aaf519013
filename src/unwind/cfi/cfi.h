/* SPDX-License-Identifier: MIT */
/*
 * Reading call frame information (CFI), the compiler's description of how to leave every instruction
 * of a function. Launcher side. Everything here is about bytes that anybody may have written.
 *
 * Vocabulary
 *
 *     section   .eh_frame (loaded, used for exceptions) or .debug_frame (debuggers only): records
 *     CIE       a record that several functions share: alignment factors, encodings, first instructions
 *     FDE       a record for one function: its address range and the instructions that follow the CIE's
 *     CFA       canonical frame address: the SP before the call; what the other rules are relative to
 *     row       the rules that hold for a range of addresses: one for the CFA, one for each register
 *
 *     .eh_frame                                        what the instructions of one FDE mean
 *     ┌──────────────────────────────┐
 *     │ length  0   CIE "zR" …       │◀─┐               address   CFA      rbp      rip
 *     ├──────────────────────────────┤  │ offset back   0x1130    rsp+8    same     CFA-8
 *     │ length  ●   FDE 0x1130 +0x42 │──┘               0x1131    rsp+16   CFA-16   CFA-8
 *     │   advance 1, def_cfa_offset… │                  0x1134    rbp+16   CFA-16   CFA-8
 *     ├──────────────────────────────┤                  0x1171    rsp+8    CFA-16   CFA-8
 *     │ length  ●   FDE …            │
 *     ├──────────────────────────────┤                  (after `pop %rbp` the value below SP is
 *     │ 0           terminator       │                   still there: compilers do not say `same`)
 *     └──────────────────────────────┘
 *
 * What differs between the two sections: .eh_frame has CIE id 0, FDEs point back by a distance from
 * that very field, and addresses are encoded as the CIE's R says (mostly 32 bits relative to
 * themselves); in .debug_frame the CIE id is all ones, FDEs give their CIE's offset in the section, and
 * addresses are plain. In the 64-bit form of .eh_frame only the length is 64 bits wide.
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
    uint64_t svma;        /* of the first byte; what relative addresses are relative to */
    bool is_debug_frame;
    bool ends_at_terminator; /* the size is only an upper bound: a length of 0 is the end */
    const struct unwind_machine *machine; /* whose code it is of; NULL: x86-64 */
};
#define CFI_SECTION_BYTES_MAX (UINT32_C(1) << 28)

/* A CIE's instructions are run again for each of its FDEs; compilers write a dozen bytes. */
#define CFI_CIE_CODE_BYTES_MAX 256

struct cfi_cie {
    uint32_t offset;          /* of the record in its section */
    uint8_t section;          /* for the owner of several: which one */
    uint8_t address_encoding; /* DW_EH_PE_* of the FDEs' addresses */
    uint8_t return_register;
    bool has_augmentation_data; /* FDEs have a block of it too */
    bool is_signal_frame;       /* interrupted code, not a call, is below it */
    uint64_t code_align;
    int64_t data_align;
    struct cursor code; /* the first instructions; positions are offsets in the section */
};

struct cfi_fde {
    uint64_t start_svma;
    uint64_t end_svma;
    struct cursor code; /* positions are offsets in the section */
};

/* A record without its head: the body begins behind the id. */
struct cfi_record {
    size_t offset;
    struct cursor body; /* positions are offsets in the section; ends with the record */
    bool is_cie;
    uint64_t cie_offset; /* of an FDE; unchecked */
};

enum cfi_next {
    CFI_RECORD,
    CFI_END,
    CFI_BROKEN, /* a length that leads nowhere: nothing after it can be found */
};

/* Reads the head of the record at *at and moves *at behind the record. Terminators are stepped over:
 * linkers leave them in the middle. */
enum cfi_next cfi_next_record(const struct cfi_section *section, size_t *at,
                              struct cfi_record *record);

/* 0, or -EBADMSG: malformed, or of a kind that does not exist on this side of 1990. */
int cfi_parse_cie(const struct cfi_section *section, struct cfi_record *record,
                  struct cfi_cie *cie);
int cfi_parse_fde(const struct cfi_section *section, const struct cfi_cie *cie,
                  struct cfi_record *record, struct cfi_fde *fde);

/* One address in the given encoding, svma; c fails on what is malformed or needs the process. */
uint64_t cfi_read_address(const struct cfi_section *section, struct cursor *c, uint8_t encoding);

enum cfi_rule_kind {
    CFI_UNSPECIFIED = 0,
    CFI_UNDEFINED,      /* lost; for the return address: there is no caller */
    CFI_SAME,           /* still in the register */
    CFI_OFFSET,         /* saved at CFA + value */
    CFI_VAL_OFFSET,     /* is CFA + value */
    CFI_REGISTER,       /* in register number value */
    CFI_EXPRESSION,     /* saved where the expression says */
    CFI_VAL_EXPRESSION, /* is what the expression says */
};

struct cfi_rule {
    uint32_t kind;  /* enum cfi_rule_kind */
    uint32_t bytes; /* of the expression */
    union {
        int64_t value;
        const uint8_t *expression; /* borrowed from the section */
    };
};

/* The CFA is register + offset, or an expression when that is not NULL. */
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

/* Compilers nest them one deep. */
#define CFI_REMEMBERED_MAX 16

/*
 * Walks the rows of one FDE:
 *
 *     cfi_walk_begin(&walk, section, cie, fde);
 *     while (cfi_walk_next(&walk))
 *         … walk.row holds in [walk.start_svma, walk.end_svma) …
 *     if (walk.failed) …
 *
 * Ranges are never empty, ascend without holes, and lie in the FDE's.
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

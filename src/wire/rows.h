/* SPDX-License-Identifier: MIT */
/*
 * Unwind rows: compiled from CFI by the launcher, applied by the sampler, in shared memory.
 *
 * A row is the step to the caller for every PC from its start up to the start of the next row:
 *
 *     rows of one module, sorted by start          kind   caller's registers
 *     ┌────────────┬────────────┐
 *     │ start 0x40 │ rule ──────┼──▶  SP        CFA = SP + 8n              SP' = CFA
 *     │ start 0x44 │ rule       │     FP        CFA = FP + 8n              PC' = *(CFA - 8)
 *     │ start 0x50 │ rule       │     SP_DEREF  CFA = *(SP + 8n) + 8m      FP' = FP, *(CFA - 8k)
 *     └────────────┴────────────┘     FP_DEREF  CFA = *(FP + 8n) + 8m            or *FP
 *
 * CFA (canonical frame address) is the value of SP before the call instruction pushed the return
 * address. Gaps between functions are rows of kind NONE, so that a lookup never takes a neighbour's
 * rule.
 *
 * A large program has millions of rows, and uses a part of its code. Rows are therefore compiled in
 * pieces of 128 KiB of code, when samples lead there. A module has an index, with a word for each
 * bucket of 1 << bucket_shift bytes of code: the place of the bucket's rows and their number; the
 * first row also covers the start of the bucket. 0: not compiled yet. The word is written last.
 *
 *     code     ├──────── piece ────────┼──────── piece ────────┼─ …
 *     index    [ 40:3 ][ 42:2 ][ 43:4 ][   0  ][   0  ][   0  ][ …
 *     rows     40 41 42 43 44 45 46
 *
 * A PC in the third bucket has row 43, 44, 45 or 46; a sample in the fourth goes to the launcher.
 *
 * Rows and index are in cells of the same size in the same memory. A search reads one cache line of
 * either.
 *
 * Address kinds: an svma is an address as stated in the ELF file, an avma an address in a running
 * process; avma = svma + load bias. `start` is an svma relative to the table's base_svma, so one
 * table serves every process that maps the same file.
 *
 * This header is the contract between the two sides: sizes and bit positions are pinned below.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum row_kind {
    ROW_NONE = 0,     /* no CFI here: caller search, or a frame-pointer step if it validates */
    ROW_SP = 1,       /* CFA = SP + 8n */
    ROW_FP = 2,       /* CFA = FP + 8n */
    ROW_SP_DEREF = 3, /* CFA = *(SP + 8n) + 8m */
    ROW_FP_DEREF = 4, /* CFA = *(FP + 8n) + 8m */
    ROW_PLT = 5,      /* CFA = SP + 8 + (low four bits of PC >= n ? 8 : 0) */
    ROW_SIGNAL = 6,   /* undefined return address: the outermost frame */
    ROW_END = 7,      /* the return address is undefined: the outermost frame */
    ROW_COMPLEX = 8,  /* a rule too complex for a row: finished by the launcher */
    ROW_REGISTER = 9, /* CFA = R + 8n for another register R: usable while R is known to the walk */
    ROW_CLONE =
        10, /* around clone()'s system call: R = 0 the outermost frame, else CFA = SP + 8n */
    ROW_SEARCH = 11, /* no CFI, but a symbol with a size: the launcher finds the caller */
};

/* The location of the caller's FP; ROW_FP_AT_CFA_MINUS_8 * k for any other value k. */
enum {
    ROW_FP_SAME = 0,    /* unchanged */
    ROW_FP_AT_FP = 255, /* *(FP): saved there by frames that realign the stack */
};

/*
 * rule, from the low bit:  kind:4  fp:8  then
 *     SP, FP, PLT:         n:20 unsigned
 *     REGISTER, CLONE:     n:16 unsigned, R:4 (a DWARF number)
 *     SP_DEREF, FP_DEREF:  n:10 signed, m:10 signed
 */
struct row {
    uint32_t start;
    uint32_t rule;
};
_Static_assert(sizeof(struct row) == 8, "the size of the tables counts on it");

#define ROW_OFFSET_MAX ((UINT32_C(1) << 20) - 1)

static inline uint32_t row_rule(enum row_kind kind, uint32_t fp, uint32_t n)
{
    return (uint32_t)kind | fp << 4 | n << 12;
}

static inline uint32_t row_rule_deref(enum row_kind kind, uint32_t fp, int32_t n, int32_t m)
{
    return (uint32_t)kind | fp << 4 | ((uint32_t)n & 0x3ff) << 12 | ((uint32_t)m & 0x3ff) << 22;
}

#define ROW_REGISTER_OFFSET_MAX ((UINT32_C(1) << 16) - 1)

static inline uint32_t row_rule_register(uint32_t fp, uint32_t reg, uint32_t n)
{
    return (uint32_t)ROW_REGISTER | fp << 4 | n << 12 | reg << 28;
}

static inline uint32_t row_rule_clone(uint32_t fp, uint32_t reg, uint32_t n)
{
    return (uint32_t)ROW_CLONE | fp << 4 | n << 12 | reg << 28;
}

static inline enum row_kind row_kind(uint32_t rule)
{
    return (enum row_kind)(rule & 0xf);
}

static inline uint32_t row_fp(uint32_t rule)
{
    return rule >> 4 & 0xff;
}

static inline uint32_t row_n(uint32_t rule)
{
    return rule >> 12;
}

/* Whether a rule is applied by unwind_apply_register(). */
static inline bool row_needs_register(uint32_t rule)
{
    return row_kind(rule) == ROW_REGISTER || row_kind(rule) == ROW_CLONE;
}

static inline uint32_t row_register(uint32_t rule)
{
    return rule >> 28;
}

static inline uint32_t row_register_n(uint32_t rule)
{
    return rule >> 12 & ROW_REGISTER_OFFSET_MAX;
}

static inline int32_t row_deref_n(uint32_t rule)
{
    return (int32_t)(rule << 10) >> 22;
}

static inline int32_t row_deref_m(uint32_t rule)
{
    return (int32_t)rule >> 22;
}

enum wire_module_flags {
    WIRE_MODULE_UNREAD = 1,   /* CFI not read yet; index and base are 0 */
    WIRE_MODULE_SEARCHED = 2, /* the launcher finds callers where CFI ends: by call instructions */
};

/* One executable mapping of one process. */
struct wire_module {
    uint64_t start_avma;
    uint64_t end_avma;
    uint64_t base_avma;    /* the table's base_svma in this process */
    uint32_t index_first;  /* first cell of the index in the shared rows */
    uint32_t bucket_count; /* 0: no rows here (JIT code): frame-pointer steps only */
    uint32_t bucket_shift;
    uint32_t flags; /* enum wire_module_flags */
};
_Static_assert(sizeof(struct wire_module) == 40, "arrays of them are shared");

/* A word of the index: number of the first shared row, and count of rows. */
static inline uint64_t row_bucket(uint32_t first, uint32_t count)
{
    return (uint64_t)count << 32 | first;
}
_Static_assert(sizeof(struct row) == sizeof(uint64_t), "a cell holds either");

static inline uint32_t row_bucket_first(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint32_t row_bucket_count(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

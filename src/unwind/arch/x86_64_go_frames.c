/* SPDX-License-Identifier: MIT */
/*
 *     CFA ─▶ ┌────────────────┐
 *            │ return address │ CFA - 8
 *            │ saved RBP      │ CFA - 16, in functions with a frame
 *            │ frame          │
 *     SP  ─▶ └────────────────┘ CFA - 8 - value of the table
 */
#include "unwind/arch/x86_64_go_frames.h"

#include "elf/go_table.h"

#include <string.h>

enum { RBP = 6, RSP = 7, RETURN_ADDRESS = 16, WORD_BYTES = 8 };
enum {
    ADVANCE_4 = 0x04,
    UNDEFINED = 0x07,
    DEF_CFA_OFFSET = 0x0e,
    OFFSET = 0x80,
    RESTORE = 0xc0,
};

/* Length, id, version 3, no augmentation, code in units of 1 and data of -8; def_cfa rsp, 8; the
 * return address at CFA - 8. */
static const uint8_t cie[] = {14,
                              0,
                              0,
                              0,
                              0xff,
                              0xff,
                              0xff,
                              0xff,
                              3,
                              0,
                              1,
                              0x78,
                              RETURN_ADDRESS,
                              0x0c,
                              RSP,
                              8,
                              OFFSET | RETURN_ADDRESS,
                              1};

/* The first functions of goroutines and threads, and functions that leave the stack of their
 * caller. */
static const char *const roots[] = {
    "runtime.goexit",     "runtime.mstart",      "runtime.rt0_go",      "_rt0_amd64",
    "_rt0_amd64_linux",   "runtime.mcall",       "runtime.systemstack", "runtime.morestack",
    "runtime.asmcgocall", "runtime.cgocallback",
};
/* The kernel's frame above has its own rule. */
static const char signal_return[] = "runtime.sigreturn__sigaction";

static bool is_root(const char *name)
{
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (strcmp(name, roots[i]) == 0)
            return true;
    return false;
}

static void put_uleb128(struct buffer *out, uint64_t value)
{
    do {
        uint8_t byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        buffer_append(out, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_byte(struct buffer *out, uint8_t byte)
{
    buffer_append(out, &byte, 1);
}

/* Tables of hand-written code may be wrong, but never negative. */
static void put_runs(struct buffer *out, const struct go_table *table,
                     const struct go_function *function, size_t *runs_left)
{
    struct go_values run = go_table_values(table, function->sp_values);
    int32_t before = 0;
    uint64_t location = 0;
    while (*runs_left > 0 && go_values_next(&run)) {
        --*runs_left;
        if (run.value < 0 || run.value == before)
            continue;
        if (run.start > location) {
            put_byte(out, ADVANCE_4);
            buffer_u32(out, (uint32_t)(run.start - location));
            location = run.start;
        }
        put_byte(out, DEF_CFA_OFFSET);
        put_uleb128(out, (uint64_t)run.value + WORD_BYTES);
        if (run.value >= WORD_BYTES && before < WORD_BYTES) {
            put_byte(out, OFFSET | RBP);
            put_byte(out, 2);
        } else if (run.value < WORD_BYTES && before >= WORD_BYTES) {
            put_byte(out, RESTORE | RBP);
        }
        before = run.value;
    }
}

static void put_function(struct buffer *out, const struct go_table *table,
                         const struct go_function *function, size_t *runs_left)
{
    size_t at = out->size;
    buffer_u32(out, 0); /* length, set below */
    buffer_u32(out, 0); /* the CIE */
    buffer_u64(out, function->start_svma);
    buffer_u64(out, function->end_svma - function->start_svma);
    if (is_root(function->name)) {
        put_byte(out, UNDEFINED);
        put_byte(out, RETURN_ADDRESS);
    } else {
        put_runs(out, table, function, runs_left);
    }
    uint32_t bytes = (uint32_t)(out->size - at - 4);
    if (!out->failed)
        memcpy(out->bytes + at, &bytes, sizeof(bytes));
}

bool x86_64_go_frames_cfi(struct buffer *debug_frame, const struct elf_file *elf)
{
    struct go_table table;
    struct go_function function;
    if (go_table_open(&table, elf) != 0)
        return false;
    /* A run takes two bytes or more. Functions share runs, but programs of Go 1.19 have one run for
     * 50 bytes of the table: a table with more runs was made to fill the memory. */
    size_t runs_left = table.bytes.size / 2;
    buffer_append(debug_frame, cie, sizeof(cie));
    for (size_t i = 0; i < table.count && runs_left > 0; i++)
        if (go_table_function(&table, i, &function) && strcmp(function.name, signal_return) != 0)
            put_function(debug_frame, &table, &function, &runs_left);
    go_table_close(&table);
    if (debug_frame->failed || runs_left == 0)
        buffer_free(debug_frame);
    return debug_frame->size > 0;
}

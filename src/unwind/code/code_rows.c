/* SPDX-License-Identifier: MIT */
/*
 * A gap is a range of code between rows of CFI. Functions may begin before the gap and end behind,
 * so the flow reads code around:
 *
 *     rows by CFI   │ f │ NONE: gap                 │ g │ NONE: gap │ h │
 *     code read       ◀─┼──── code_svma … flow ─────┼─▶ up to AROUND_BYTES
 *     functions         ├─ firm ─┤├ label ┤├─ firm ─┤
 *
 * Firm starts are followed first: a label inside of a followed function is no start.
 */
#include "unwind/code/code_rows.h"

#include "base/containers/array.h"
#include "unwind/code/code_flow.h"
#include "unwind/step.h"

#include <errno.h>
#include <stdlib.h>

enum {
    AROUND_BYTES = 64 << 10, /* of code before and behind a gap, for functions across its ends */
    ROOT_BYTES = 32,         /* of code that ends a thread */
};

/* Rows compiled from CFI. */
struct cfi_rows {
    const struct row *rows;
    size_t count;
    uint64_t start_svma, end_svma; /* of the code; rows are relative to base_svma */
    uint64_t base_svma;
};

/* The gap under work, and the code around. */
struct gap {
    const struct code_image *image;
    const struct cfi_rows *cfi;
    uint64_t code_svma; /* of the flow's first byte */
    uint64_t start_svma, end_svma;
    struct flow flow;
    size_t cfi_conflicts;
};

static bool starts_at(void *context, int64_t at, bool *is_firm)
{
    const struct gap *gap = context;
    struct code_function function;
    uint64_t svma = gap->code_svma + (uint64_t)at;
    if (!code_image_function(gap->image, svma, &function) || function.start_svma != svma)
        return false;
    *is_firm = function.is_firm;
    return true;
}

/* From the start of the function around the gap's start. */
static int open_gap(struct gap *gap)
{
    struct code_function function;
    uint64_t end_svma = gap->end_svma + AROUND_BYTES;
    gap->code_svma = gap->start_svma;
    if (code_image_function(gap->image, gap->start_svma, &function) &&
        gap->start_svma - function.start_svma <= AROUND_BYTES)
        gap->code_svma = function.start_svma;
    gap->flow = (struct flow){.svma = gap->code_svma, .starts = starts_at, .context = gap};
    gap->flow.code = code_image_bytes(gap->image, gap->code_svma,
                                      (size_t)(end_svma - gap->code_svma), &gap->flow.bytes);
    return flow_open(&gap->flow);
}

/* The rule by CFI of an instruction followed; ROW_NONE: none, or outside of the range. */
static uint32_t cfi_rule(const struct gap *gap, size_t at)
{
    const struct cfi_rows *cfi = gap->cfi;
    uint64_t svma = gap->code_svma + at;
    if (svma < cfi->start_svma || svma >= cfi->end_svma)
        return row_rule(ROW_NONE, ROW_FP_SAME, 0);
    return unwind_find_rule(cfi->rows, cfi->count, (uint32_t)(svma - cfi->base_svma));
}

/* Whether the rule gives another CFA, by the same register, than the code. */
static bool differs(uint32_t rule, const struct flow_state *state)
{
    bool by_sp = row_kind(rule) == ROW_SP && state->depth != FLOW_BY_FP;
    bool by_fp = row_kind(rule) == ROW_FP && state->fp_depth > 0;
    int32_t depth = by_fp ? state->fp_depth : state->depth;
    return (by_sp || by_fp) && row_n(rule) != (uint32_t)depth / 8 + 1;
}

/* Whether the function followed last has CFI for a part, and another CFA there. The function has to
 * reach into the gap: parts of functions split off by compilers begin like functions. */
static bool conflicts_with_cfi(const struct gap *gap)
{
    bool is_inside = false, is_other = false;
    for (size_t i = 0; i < gap->flow.reached_count; i++) {
        size_t at = gap->flow.reached[i];
        uint64_t svma = gap->code_svma + at;
        is_inside |= svma >= gap->start_svma && svma < gap->end_svma;
        is_other |= differs(cfi_rule(gap, at), &gap->flow.states[at]);
    }
    return is_inside && is_other;
}

/* Whether the function followed last was seen in an earlier gap, too. */
static bool has_earlier_gap(const struct gap *gap)
{
    for (size_t i = 0; i < gap->flow.reached_count; i++) {
        size_t at = gap->flow.reached[i];
        uint64_t svma = gap->code_svma + at;
        if (svma >= gap->cfi->start_svma && svma < gap->start_svma &&
            row_kind(cfi_rule(gap, at)) == ROW_NONE)
            return true;
    }
    return false;
}

static void follow(struct gap *gap, uint64_t start_svma)
{
    size_t start = (size_t)(start_svma - gap->code_svma);
    if (!code_image_machine(gap->image)->flow_follow(&gap->flow, start) || !conflicts_with_cfi(gap))
        return;
    gap->cfi_conflicts += !has_earlier_gap(gap);
    flow_forget(&gap->flow, 0);
}

/* Firm starts first: other starts may be labels inside of their functions. */
static void follow_all(struct gap *gap, bool is_firm)
{
    uint64_t svma = gap->code_svma;
    struct code_function function;
    if (!code_image_function(gap->image, svma, &function))
        return;
    while (function.start_svma < gap->end_svma) {
        if (function.start_svma >= svma && function.is_firm == is_firm)
            follow(gap, function.start_svma);
        if (!code_image_function(gap->image, function.end_svma, &function))
            return;
    }
}

/* A depth is the distance from SP or FP up to the return address in bytes, n of a rule the distance
 * up to the CFA in words. */
static uint32_t rule_of(const struct flow_state *state)
{
    if (state->kind == FLOW_UNKNOWN)
        return row_rule(ROW_NONE, ROW_FP_SAME, 0);
    bool by_fp = state->depth == FLOW_BY_FP;
    uint32_t bytes = (uint32_t)(by_fp ? state->fp_depth : state->depth);
    return row_rule(by_fp ? ROW_FP : ROW_SP, state->fp_word, bytes / 8 + 1);
}

/* Code behind a jump through a register, that ends the thread: the first function of a fiber
 * returns there. The lookup of a return address goes to the last byte of the jump, where no
 * instruction starts. */
static bool is_root_behind(const struct gap *gap, size_t at)
{
    const struct machine_code *machine = code_image_machine(gap->image);
    size_t size;
    uint64_t svma = gap->code_svma + at + 1;
    const uint8_t *jump = code_image_before(gap->image, svma, machine->register_jump_bytes);
    if (!jump || !machine->is_register_jump(jump))
        return false;
    const uint8_t *code = code_image_bytes(gap->image, svma, ROOT_BYTES, &size);
    return machine->ends_thread(code, size);
}

/* The entry function of the program: nobody calls it. */
static bool is_in_entry(const struct gap *gap, size_t at)
{
    uint64_t svma = gap->code_svma + at, entry_svma = code_image_entry_svma(gap->image);
    struct code_function function;
    return svma >= entry_svma && svma - entry_svma < CFI_ENTRY_BYTES_MAX &&
           code_image_function(gap->image, entry_svma, &function) && svma < function.end_svma;
}

static int append(struct compiled_rows *out, uint32_t start, uint32_t rule)
{
    struct row *last = out->count > 0 ? &out->rows[out->count - 1] : NULL;
    if (last && last->start == start)
        last->rule = rule;
    if (last && last->rule == rule)
        return 0;
    struct row *row = ARRAY_PUSH(out->rows, out->count, out->capacity);
    if (!row)
        return -ENOMEM;
    *row = (struct row){start, rule};
    return 0;
}

/* Bytes inside of an instruction have the rule of its first byte. */
static int append_gap(const struct gap *gap, uint64_t base_svma, struct compiled_rows *out)
{
    uint32_t rule = row_rule(ROW_NONE, ROW_FP_SAME, 0);
    int err = append(out, (uint32_t)(gap->start_svma - base_svma), rule);
    for (uint64_t svma = gap->start_svma; svma < gap->end_svma && err == 0; svma++) {
        size_t at = (size_t)(svma - gap->code_svma);
        if (at >= gap->flow.bytes)
            return append(out, (uint32_t)(svma - base_svma), row_rule(ROW_NONE, ROW_FP_SAME, 0));
        if (gap->flow.states[at].kind != FLOW_INSIDE)
            rule = rule_of(&gap->flow.states[at]);
        bool is_root = is_in_entry(gap, at) || is_root_behind(gap, at);
        err = append(out, (uint32_t)(svma - base_svma),
                     is_root ? row_rule(ROW_END, ROW_FP_SAME, 0) : rule);
    }
    return err;
}

static int fill_gap(const struct code_image *image, const struct cfi_rows *cfi, uint64_t start,
                    uint64_t end, struct compiled_rows *out)
{
    struct gap gap = {.image = image,
                      .cfi = cfi,
                      .start_svma = cfi->base_svma + start,
                      .end_svma = cfi->base_svma + end};
    int err = open_gap(&gap);
    if (err == 0) {
        follow_all(&gap, true);
        follow_all(&gap, false);
        out->cfi_conflicts += gap.cfi_conflicts;
        err = append_gap(&gap, cfi->base_svma, out);
    }
    flow_close(&gap.flow);
    return err;
}

/* A file in pieces: code is read by the thread of the caller search alone, so no function is
 * followed. The caller of code that was entered needs no start of a function. */
static int mark_gap(const struct code_image *image, const struct cfi_rows *cfi, uint64_t start,
                    uint64_t end, struct compiled_rows *out)
{
    uint64_t at_svma = cfi->base_svma + start, part_end_svma = cfi->base_svma + end;
    if (code_image_is_entered(image))
        return append(out, (uint32_t)start, row_rule(ROW_SEARCH, ROW_FP_SAME, 0));
    int err = append(out, (uint32_t)start, row_rule(ROW_NONE, ROW_FP_SAME, 0));
    while (err == 0 && code_image_sized_part(image, &at_svma, &part_end_svma)) {
        err =
            append(out, (uint32_t)(at_svma - cfi->base_svma), row_rule(ROW_SEARCH, ROW_FP_SAME, 0));
        at_svma = part_end_svma;
        part_end_svma = cfi->base_svma + end;
        if (err == 0 && at_svma < part_end_svma)
            err = append(out, (uint32_t)(at_svma - cfi->base_svma),
                         row_rule(ROW_NONE, ROW_FP_SAME, 0));
    }
    return err;
}

/* Whether a function may start in the range: padding between functions needs no rows. */
static bool has_start(const struct code_image *image, uint64_t start_svma, uint64_t end_svma)
{
    struct code_function function;
    return code_image_is_entered(image) || (code_image_function(image, end_svma - 1, &function) &&
                                            function.start_svma >= start_svma);
}

/* Replaces rows of kind NONE by rows from code. A gap without the start of a function is padding,
 * except at the start of the range: a function of the range before may go on there. */
int code_rows_fill(const struct code_image *image, uint64_t base_svma, uint32_t start, uint64_t end,
                   struct compiled_rows *rows)
{
    const struct row whole = {start, row_rule(ROW_NONE, ROW_FP_SAME, 0)};
    const struct row *from = rows->count ? rows->rows : &whole;
    const size_t count = rows->count ? rows->count : 1;
    const struct cfi_rows cfi = {from, count, base_svma + start, base_svma + end, base_svma};
    struct compiled_rows filled = {.bad_fdes = rows->bad_fdes};
    int err = 0;
    for (size_t i = 0; i < count && err == 0; i++) {
        uint64_t row_start = from[i].start < start ? start : from[i].start;
        uint64_t row_end = i + 1 < count ? from[i + 1].start : end;
        bool may_continue = row_start == start; /* a function of the range before */
        bool is_gap =
            row_kind(from[i].rule) == ROW_NONE && row_start < row_end &&
            (may_continue || has_start(image, base_svma + row_start, base_svma + row_end));
        if (!is_gap)
            err = append(&filled, (uint32_t)row_start, from[i].rule);
        else if (code_image_has_all_starts(image))
            err = fill_gap(image, &cfi, row_start, row_end, &filled);
        else
            err = mark_gap(image, &cfi, row_start, row_end, &filled);
    }
    if (err != 0) {
        compile_free(&filled);
        return err;
    }
    compile_free(rows);
    *rows = filled;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Pieces by address, with a tree of the greatest ends above them, to find all pieces around an
 * address:
 *
 *     ends[1]                 greatest end of all
 *     ends[2]  ends[3]        of either half
 *     …
 *     ends[leaves + i]        end of codes[i]; pieces beyond the count end at 0
 *
 * overlap_of() begins at the last piece that starts below the range, and goes left. A subtree with
 * no end above the range is skipped, so a search takes a few steps for each piece found.
 * Generations are found in the order of time, so all older pieces below a piece have theirs.
 */
#include "convert/jit/jit_code.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void jit_codes_free(struct jit_codes *codes)
{
    free(codes->codes);
    free(codes->lines);
    buffer_free(&codes->texts);
    free(codes->ends);
    *codes = (struct jit_codes){0};
}

size_t jit_codes_text(struct jit_codes *codes, const char *text, size_t length)
{
    if (codes->texts.size == 0)
        buffer_u8(&codes->texts, 0);
    size_t offset = codes->texts.size;
    buffer_append(&codes->texts, text, length);
    buffer_u8(&codes->texts, 0);
    return codes->texts.failed ? 0 : offset;
}

struct jit_code *jit_codes_add(struct jit_codes *codes)
{
    if (codes->count >= codes->room) {
        codes->is_full = true;
        return NULL;
    }
    return ARRAY_PUSH(codes->codes, codes->count, codes->capacity);
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Before the sort, order is the place in the file. */
static int by_time(const void *left, const void *right)
{
    const struct jit_code *a = left, *b = right;
    int by = COMPARE(a->since_ns, b->since_ns);
    return by ? by : COMPARE(a->order, b->order);
}

static int by_address(const void *left, const void *right)
{
    const struct jit_code *a = left, *b = right;
    int by = COMPARE(a->avma, b->avma);
    return by ? by : COMPARE(a->order, b->order);
}

static void number(struct jit_codes *codes)
{
    for (size_t i = 0; i < codes->count; i++)
        codes->codes[i].order = (uint32_t)i;
}

static size_t leaves_of(const struct jit_codes *codes)
{
    size_t leaves = 1;
    while (leaves < codes->count)
        leaves *= 2;
    return leaves;
}

static int build_ends(struct jit_codes *codes)
{
    size_t leaves = leaves_of(codes);
    free(codes->ends);
    codes->ends = calloc(2 * leaves, sizeof(*codes->ends));
    if (!codes->ends)
        return -ENOMEM;
    for (size_t i = 0; i < codes->count; i++)
        codes->ends[leaves + i] = codes->codes[i].avma + codes->codes[i].bytes;
    for (size_t i = leaves - 1; i > 0; i--) {
        uint64_t left = codes->ends[2 * i], right = codes->ends[2 * i + 1];
        codes->ends[i] = left > right ? left : right;
    }
    return 0;
}

/* Iteration over the pieces overlapping [low, high), from the last address down. */
struct overlap {
    struct jit_codes *codes;
    uint64_t low;
    size_t leaves, node; /* node 0: at the end */
    unsigned steps;      /* remaining */
};

/* In hostile files all pieces overlap: after many steps in total, each search gets only a few. */
enum { STEPS_MAX = 4096, STEPS_FEW = 256, STEPS_MANY = 1 << 26 };

static size_t count_below(const struct jit_codes *codes, uint64_t avma)
{
    return ARRAY_COUNT_BELOW(codes->codes, codes->count, avma, avma);
}

/* The nearest node before `node` not above it in the tree; 0: none. */
static size_t step_left(size_t node)
{
    while (node > 1 && node % 2 == 0)
        node /= 2;
    return node > 1 ? node - 1 : 0;
}

static struct overlap overlap_of(struct jit_codes *codes, uint64_t low, uint64_t high)
{
    size_t leaves = leaves_of(codes);
    size_t count = codes->ends ? count_below(codes, high) : 0;
    return (struct overlap){.codes = codes,
                            .low = low,
                            .leaves = leaves,
                            .node = count ? leaves + count - 1 : 0,
                            .steps = codes->steps < STEPS_MANY ? STEPS_MAX : STEPS_FEW};
}

static struct jit_code *next_overlap(struct overlap *walk)
{
    while (walk->node && walk->steps > 0) {
        walk->steps--;
        walk->codes->steps++;
        if (walk->codes->ends[walk->node] <= walk->low) {
            walk->node = step_left(walk->node);
        } else if (walk->node < walk->leaves) {
            walk->node = 2 * walk->node + 1;
        } else {
            struct jit_code *code = &walk->codes->codes[walk->node - walk->leaves];
            walk->node = step_left(walk->node);
            return code;
        }
    }
    return NULL;
}

/* A generation above all replaced code. */
static uint32_t next_generation(struct jit_codes *codes, const struct jit_code *code)
{
    struct overlap walk = overlap_of(codes, code->avma, code->avma + code->bytes);
    uint32_t latest = 0;
    for (struct jit_code *other; (other = next_overlap(&walk));)
        if (other->order < code->order && other->generation > latest)
            latest = other->generation;
    return latest + 1;
}

static int set_generations(struct jit_codes *codes)
{
    uint32_t *by_order = malloc((codes->count + 1) * sizeof(*by_order));
    if (!by_order)
        return -ENOMEM;
    for (size_t i = 0; i < codes->count; i++)
        by_order[codes->codes[i].order] = (uint32_t)i;
    for (size_t i = 0; i < codes->count; i++) {
        struct jit_code *code = &codes->codes[by_order[i]];
        if (code->generation == 0)
            code->generation = next_generation(codes, code);
    }
    free(by_order);
    return 0;
}

int jit_codes_sort(struct jit_codes *codes)
{
    if (codes->count == 0)
        return 0;
    number(codes);
    qsort(codes->codes, codes->count, sizeof(*codes->codes), by_time);
    number(codes);
    qsort(codes->codes, codes->count, sizeof(*codes->codes), by_address);
    int err = build_ends(codes);
    return err ? err : set_generations(codes);
}

const struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t avma, uint64_t time_ns)
{
    const struct jit_code *found = NULL;
    if (avma == UINT64_MAX)
        return NULL;
    struct overlap walk = overlap_of(codes, avma, avma + 1);
    for (const struct jit_code *code; (code = next_overlap(&walk));)
        if (code->since_ns <= time_ns && (!found || code->order > found->order))
            found = code;
    return found && !found->is_gone ? found : NULL;
}

const struct jit_line *jit_codes_line(const struct jit_codes *codes, const struct jit_code *code,
                                      uint64_t avma)
{
    const struct jit_line *found = NULL;
    for (size_t i = 0; i < code->line_count; i++) {
        const struct jit_line *line = &codes->lines[code->first_line + i];
        if (line->avma <= avma && (!found || line->avma >= found->avma))
            found = line;
    }
    return found;
}

/* SPDX-License-Identifier: MIT */
#include "unwind/code/function_starts.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

/* Another instruction refers to a possible start. */
struct reference {
    uint64_t svma, target_svma;
};

struct references {
    struct reference *items;
    size_t count, capacity;
};

struct scan {
    struct references jumps, addresses;
    struct buffer after_end; /* a bit for each byte: a function may start behind the instruction
                              * that ends there */
};

static bool holds(const struct function_starts *starts, uint64_t svma)
{
    return svma >= starts->svma && svma - starts->svma < starts->bytes;
}

/* Compilers make a call for each 30 to 50 bytes of code. */
static bool is_too_many(const struct function_starts *starts, size_t count)
{
    return count > 4096 + starts->bytes / 8;
}

static int add(struct function_starts *starts, struct function_start start)
{
    if (!holds(starts, start.svma))
        return 0;
    if (is_too_many(starts, starts->count))
        return -EFBIG;
    struct function_start *made = ARRAY_PUSH(starts->starts, starts->count, starts->capacity);
    if (made)
        *made = start;
    return made ? 0 : -ENOMEM;
}

int function_starts_add(struct function_starts *starts, uint64_t svma, bool is_firm)
{
    return add(starts, (struct function_start){svma, is_firm, !is_firm});
}

void function_starts_free(struct function_starts *starts)
{
    free(starts->starts);
}

static int add_reference(const struct function_starts *starts, struct references *references,
                         uint64_t svma, uint64_t target_svma)
{
    if (!holds(starts, target_svma))
        return 0;
    if (is_too_many(starts, references->count))
        return -EFBIG;
    struct reference *reference =
        ARRAY_PUSH(references->items, references->count, references->capacity);
    if (reference)
        *reference = (struct reference){svma, target_svma};
    return reference ? 0 : -ENOMEM;
}

static int take_instruction(struct function_starts *starts, struct scan *scan, const uint8_t *bytes,
                            size_t size, uint64_t svma)
{
    uint64_t target_svma;
    switch (starts->machine->function_reference(bytes, size, svma, &target_svma)) {
    case REFERENCE_CALL:
        return function_starts_add(starts, target_svma, true);
    case REFERENCE_ADDRESS:
        return add_reference(starts, &scan->addresses, svma, target_svma);
    case REFERENCE_NONE:
        break;
    }
    return starts->machine->tail_jump(bytes, size, svma, &target_svma)
               ? add_reference(starts, &scan->jumps, svma, target_svma)
               : 0;
}

/* Behind data between functions the decoder is in step again after a few instructions. */
static int scan_code(struct function_starts *starts, struct scan *scan)
{
    int err = 0;
    bool may_start = true;
    buffer_zeros(&scan->after_end, starts->bytes / 8 + 1);
    if (scan->after_end.failed)
        return -ENOMEM;
    for (size_t at = 0, length; err == 0 && at < starts->bytes; at += length ? length : 1) {
        const uint8_t *bytes = starts->code + at;
        if (may_start)
            scan->after_end.bytes[at / 8] |= (uint8_t)(1u << at % 8);
        length = starts->machine->pass_instruction(bytes, starts->bytes - at, &may_start);
        err = take_instruction(starts, scan, bytes, length, starts->svma + at);
    }
    return err;
}

static bool may_start_at(const struct function_starts *starts, const struct scan *scan,
                         uint64_t svma)
{
    uint64_t at = svma - starts->svma;
    return scan->after_end.bytes[at / 8] >> at % 8 & 1;
}

int function_starts_sort(struct function_starts *starts)
{
    size_t kept = 0;
    int err = SORT_BY(starts->starts, starts->count, svma);
    for (size_t i = 0; i < starts->count && err == 0; i++) {
        struct function_start *last = kept ? &starts->starts[kept - 1] : NULL;
        if (last && last->svma == starts->starts[i].svma) {
            last->is_firm |= starts->starts[i].is_firm;
            last->is_label &= starts->starts[i].is_label;
        } else {
            starts->starts[kept++] = starts->starts[i];
        }
    }
    starts->count = kept;
    return err;
}

/* Whether one of the first `known` starts lies between the reference and its target. */
static bool leaves_function(const struct function_starts *starts, size_t known,
                            const struct reference *reference)
{
    return ARRAY_COUNT_UP_TO(starts->starts, known, svma, reference->svma) !=
           ARRAY_COUNT_UP_TO(starts->starts, known, svma, reference->target_svma);
}

static int add_addresses(struct function_starts *starts, const struct scan *scan)
{
    size_t known = starts->count;
    int err = 0;
    for (size_t i = 0; i < scan->addresses.count && err == 0; i++) {
        const struct reference *taken = &scan->addresses.items[i];
        bool is_label = !leaves_function(starts, known, taken);
        if (may_start_at(starts, scan, taken->target_svma))
            err = add(starts, (struct function_start){taken->target_svma, false, is_label});
    }
    return err;
}

/* A jump between functions is a tail call, if it leads to an aligned address. */
static int add_tail_calls(struct function_starts *starts, const struct scan *scan)
{
    size_t known = starts->count;
    int err = 0;
    for (size_t i = 0; i < scan->jumps.count && err == 0; i++) {
        const struct reference *jump = &scan->jumps.items[i];
        if (jump->target_svma % starts->machine->function_alignment == 0 &&
            may_start_at(starts, scan, jump->target_svma) && leaves_function(starts, known, jump))
            err = function_starts_add(starts, jump->target_svma, false);
    }
    return err;
}

/* In three passes, each by the starts found before: targets of calls are functions; a taken address
 * without a start in between may be a label of its own function; targets of jumps are functions
 * only with a start in between. */
int function_starts_find(struct function_starts *starts)
{
    struct scan scan = {0};
    int err = scan_code(starts, &scan);
    if (err == 0)
        err = function_starts_sort(starts);
    if (err == 0)
        err = add_addresses(starts, &scan);
    if (err == 0)
        err = function_starts_sort(starts);
    if (err == 0)
        err = add_tail_calls(starts, &scan);
    if (err == 0)
        err = function_starts_sort(starts);
    free(scan.jumps.items);
    free(scan.addresses.items);
    buffer_free(&scan.after_end);
    return err;
}

void function_starts_confirm(struct function_starts *starts, uint64_t svma)
{
    size_t next = ARRAY_COUNT_UP_TO(starts->starts, starts->count, svma, svma);
    if (next && starts->starts[next - 1].svma == svma)
        starts->starts[next - 1] = (struct function_start){svma, .is_firm = true};
}

const struct function_start *function_starts_before(const struct function_starts *starts,
                                                    uint64_t svma)
{
    size_t next = ARRAY_COUNT_UP_TO(starts->starts, starts->count, svma, svma);
    return next ? &starts->starts[next - 1] : NULL;
}

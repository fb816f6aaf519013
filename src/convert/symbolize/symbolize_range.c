/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/symbolize_range.h"

#include "base/containers/array.h"
#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t svma_of(const struct lib_symbols *symbols, const uint32_t *order, size_t i)
{
    return symbols->profile->addresses[order[i]].svma;
}

/* Owned; NULL: out of memory. */
static uint64_t *addresses_of(const struct lib_symbols *symbols, const uint32_t *order,
                              size_t count)
{
    uint64_t *svmas = calloc(count, sizeof(*svmas));
    for (size_t i = 0; svmas && i < count; i++)
        svmas[i] = svma_of(symbols, order, i);
    return svmas;
}

/* Growing would leave the smaller array behind in the heap. */
static void reserve(struct profile *named, size_t count)
{
    if (array_reserve((void **)&named->addresses, &named->address_capacity, count,
                      sizeof(*named->addresses)) != 0 ||
        array_reserve((void **)&named->frames, &named->frame_capacity, count,
                      sizeof(*named->frames)) != 0)
        named->failed = true;
}

/* Returns memory of compressed and unneeded sections to the system. Symbols alone leave too
 * little for the later page faults: 4 % of the time for a compiler's copied stacks. */
static void give_back(const struct symbolize_range *range)
{
    if (range->may_have_debug_info)
        heap_give_back();
}

void symbolize_range_run(struct lib_symbols *symbols, const struct symbolize_range *range,
                         const uint32_t *order, struct buffer *out)
{
    uint64_t *wanted = addresses_of(symbols, order, range->count);
    if (wanted)
        lib_symbols_open(symbols, wanted, range->count);
    else
        symbols->err = -ENOMEM;
    free(wanted);
    give_back(range);
    if (symbols->named)
        reserve(symbols->named, range->count);
    for (size_t i = 0; symbols->named && i < range->count; i++)
        lib_symbols_add(symbols, svma_of(symbols, order, i));
    lib_symbols_write_note(symbols, out);
    lib_symbols_close_file(symbols);
    give_back(range); /* before the names are there a second time */
    lib_symbols_write(symbols, out);
    lib_symbols_close(symbols);
    give_back(range); /* before the receiver of the result needs memory, too */
}

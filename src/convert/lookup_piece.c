/* SPDX-License-Identifier: MIT */
#include "convert/lookup_piece.h"

#include "base/containers/array.h"
#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t svma_of(const struct lookup_naming *naming, const uint32_t *order, size_t i)
{
    return naming->profile->addresses[order[i]].svma;
}

/* Owned; NULL: out of memory. */
static uint64_t *addresses_of(const struct lookup_naming *naming, const uint32_t *order,
                              size_t count)
{
    uint64_t *svmas = calloc(count, sizeof(*svmas));
    for (size_t i = 0; svmas && i < count; i++)
        svmas[i] = svma_of(naming, order, i);
    return svmas;
}

/* Growing leaves behind what was too small. */
static void reserve(struct profile *named, size_t count)
{
    if (array_reserve((void **)&named->addresses, &named->address_capacity, count,
                      sizeof(*named->addresses)) != 0 ||
        array_reserve((void **)&named->frames, &named->frame_capacity, count,
                      sizeof(*named->frames)) != 0)
        named->failed = true;
}

/* What sections were compressed in, and what of them nobody needs. Of symbols alone there is too little for it to be worth
 * the faults that follow: 4 % of the time of a compiler's copied stacks. */
static void give_back(const struct lookup_piece *piece)
{
    if (piece->may_have_debug_info)
        heap_give_back();
}

void lookup_piece_answer(struct lookup_naming *naming, const struct lookup_piece *piece,
                         const uint32_t *order, struct buffer *out)
{
    uint64_t *wanted = addresses_of(naming, order, piece->count);
    if (wanted)
        lookup_naming_open(naming, wanted, piece->count);
    else
        naming->err = -ENOMEM;
    free(wanted);
    give_back(piece);
    if (naming->named)
        reserve(naming->named, piece->count);
    for (size_t i = 0; naming->named && i < piece->count; i++)
        lookup_naming_add(naming, svma_of(naming, order, i));
    lookup_naming_say(naming, out);
    give_back(piece); /* before the names are there a second time */
    lookup_naming_answer(naming, out);
    lookup_naming_close(naming);
    give_back(piece); /* before who receives the answer has it, too */
}

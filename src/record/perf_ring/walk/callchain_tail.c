/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/walk/callchain_tail.h"

#include "wire/records.h"

#include <string.h>

/* Equal frames needed: one return address can be in two places of a stack. */
enum { MATCH_MIN = 3 };
/* Below the start routine of a thread. */
enum { THREAD_ROOT = 2 };

void root_frames_note(struct root_frames *root, bool is_main, const uint64_t *frames, size_t count)
{
    const size_t kept = is_main ? ROOT_FRAMES : THREAD_ROOT;
    if (count <= kept)
        return;
    memcpy(root->avmas, frames + count - kept, kept * sizeof(*frames));
    root->count = kept;
}

/* How many last frames of the walk end at this place of the callchain. The callchain lacks
 * functions without a frame pointer, so a match may be shorter than both. */
static size_t match_at(const struct cut_walk *walk, const uint64_t *chain, size_t last)
{
    size_t length = 0;
    while (length < walk->count && length <= last &&
           chain[last - length] == walk->frames[walk->count - 1 - length])
        length++;
    return length;
}

/* The place behind the walk in the callchain; 0: none, or two are equally good, as in a
 * recursion beyond the end of the callchain. */
static size_t find_tail(const struct cut_walk *walk, const uint64_t *chain, size_t chain_count)
{
    size_t best = MATCH_MIN - 1, place = 0;
    for (size_t last = 0; last < chain_count; last++) {
        size_t length = match_at(walk, chain, last);
        if (length == best)
            place = 0;
        if (length <= best)
            continue;
        best = length;
        place = last + 1;
    }
    return place;
}

static void push(struct cut_walk *walk, uint64_t avma)
{
    if (walk->count < walk->room)
        walk->frames[walk->count++] = avma;
}

bool callchain_tail_append(struct cut_walk *walk, const uint64_t *chain, size_t chain_count,
                           const struct root_frames *root)
{
    size_t place = find_tail(walk, chain, chain_count);
    if (place == 0)
        return false;
    for (size_t i = place; i < chain_count && chain[i] < RECORD_ADDRESSES_END; i++) {
        push(walk, chain[i]);
        if (root->count == 0 || chain[i] != root->avmas[0])
            continue;
        for (size_t k = 1; k < root->count; k++)
            push(walk, root->avmas[k]);
        return walk->count < walk->room;
    }
    return false;
}

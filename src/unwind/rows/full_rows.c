/* SPDX-License-Identifier: MIT */
#include "unwind/rows/full_rows.h"

#include "unwind/rows/row_room.h"

#include <stdlib.h>

/* Two thirds of a MiB. Cheaper rows than KEPT_BYTES are made again. */
enum { KEPT_MOST = 1 << 11, KEPT_BYTES = 64 };

struct full_rows {
    struct two_way_cache kept;
    struct full_row last;
    size_t bytes_left, bytes_most; /* of instructions */
    uint64_t refused;
    struct row_room *room;
    size_t held_bytes;
};

struct full_rows *full_rows_new(size_t cfi_bytes, struct row_room *room)
{
    struct full_rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return NULL;
    rows->bytes_left = rows->bytes_most = FULL_ROWS_TIMES * cfi_bytes + FULL_ROWS_START_BYTES;
    rows->room = room;
    return rows;
}

void full_rows_free(struct full_rows *rows)
{
    if (!rows)
        return;
    row_room_hold(rows->room, &rows->held_bytes, 0);
    two_way_cache_free(&rows->kept);
    free(rows);
}

uint64_t full_rows_refused(const struct full_rows *rows)
{
    return rows->refused;
}

/* A lookup of an average function costs less than it adds. */
static void refill(struct full_rows *rows)
{
    size_t room = rows->bytes_most - rows->bytes_left;
    rows->bytes_left += room < FULL_ROWS_FREE_BYTES ? room : FULL_ROWS_FREE_BYTES;
}

/* Runs the instructions up to the address. False: no row there. *ran: bytes of instructions. */
static bool run(struct full_rows *rows, struct cfi_walk *walk, uint64_t svma, size_t *ran)
{
    const size_t start = walk->code.at, left = cursor_left(&walk->code);
    const bool is_limited = left > rows->bytes_left;
    bool is_found = false;
    if (is_limited)
        walk->code.size = start + rows->bytes_left;
    while (!is_found && cfi_walk_next(walk))
        is_found = svma < walk->end_svma;
    *ran = walk->code.at - start;
    rows->bytes_left -= *ran;
    const bool is_cut = is_limited && !cursor_left(&walk->code);
    rows->refused += is_cut;
    return is_found && !is_cut;
}

static struct full_row *place_for(struct full_rows *rows, struct two_way_cache_key key, size_t ran)
{
    struct full_row *place = NULL;
    const size_t most = row_room_is_left(rows->room) ? KEPT_MOST : rows->kept.slot_count;
    if (ran > KEPT_BYTES)
        place = two_way_cache_add(&rows->kept, sizeof(*place), most, key);
    row_room_hold(rows->room, &rows->held_bytes, rows->kept.slot_count * sizeof(*place));
    return place ? place : &rows->last;
}

const struct full_row *full_rows_find(struct full_rows *rows, struct lazy_rules *lazy,
                                      uint64_t base_svma, uint32_t relative)
{
    const struct two_way_cache_key key = {.generation = 1, .avma = relative};
    const struct full_row *known = two_way_cache_find(&rows->kept, sizeof(*known), key);
    struct cfi_walk walk;
    size_t ran;
    if (known)
        return known;
    refill(rows);
    if (!lazy_rules_walk(lazy, relative, &walk) || !run(rows, &walk, base_svma + relative, &ran))
        return NULL;
    struct full_row *made = place_for(rows, key, ran);
    made->row = walk.row;
    made->return_register = walk.cie->return_register;
    made->is_signal_frame = walk.cie->is_signal_frame;
    return made;
}

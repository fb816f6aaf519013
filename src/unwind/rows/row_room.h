/* SPDX-License-Identifier: MIT */
/*
 * Room for rules and rows made on demand, of several modules together: a hostile stack leads to
 * thousands of files and pieces. The thread that makes rules takes room, any thread returns it.
 */
#pragma once

#include "wire/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_room {
    int64_t left_bytes; /* atomic; below 0: the last rules needed more than was left */
};

/* NULL: without a limit. */
static inline bool row_room_is_left(const struct row_room *room)
{
    return !room || load_relaxed(&room->left_bytes) > 0;
}

/* Takes or returns the difference of the bytes held. */
static inline void row_room_hold(struct row_room *room, size_t *held_bytes, size_t bytes)
{
    if (room && *held_bytes != bytes)
        add_relaxed(&room->left_bytes, (int64_t)*held_bytes - (int64_t)bytes);
    *held_bytes = bytes;
}

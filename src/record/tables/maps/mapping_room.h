/* SPDX-License-Identifier: MIT */
/* Limits the bytes of mapping records in the file: a budget, refilled with time. Arithmetic
 * only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mapping_room {
    uint64_t bytes;
    uint64_t filled_ns; /* 0: full */
};

/* Takes room for a mapping with a path of this size, from the process and from the shared room.
 * False: leave out the mapping. */
bool mapping_room_take(struct mapping_room *process, struct mapping_room *shared,
                       uint64_t path_bytes, uint64_t now_ns);

/* SPDX-License-Identifier: MIT */
/* Limits the bytes of mapping records in the file: a room that refills with time. Arithmetic
 * only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mapping_room {
    uint64_t bytes;
    uint64_t filled_ns; /* 0: full */
};

/* Takes room for one mapping with a path of this size, both from its process and from the room that
 * all processes share. False: the mapping must be left out. */
bool mapping_room_take(struct mapping_room *process, struct mapping_room *shared,
                       uint64_t path_bytes, uint64_t now_ns);

/* SPDX-License-Identifier: MIT */
/* The frames of a stack; with more frames than room: leaf part, then the circular root part. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offline_frames { /* room for the result */
    uint64_t *pcs;
    bool *are_return_addresses; /* NULL: not needed */
    size_t max;
    size_t leaf_max; /* of a deeper stack, so many innermost frames and the outermost ones are kept;
                      * 0: the walk ends at max */
};

/* Puts the circular root part of so many frames in order. Returns the number of frames left out. */
size_t offline_frames_settle(const struct offline_frames *frames, size_t frame_count);

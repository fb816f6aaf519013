/* SPDX-License-Identifier: MIT */
/*
 * What requests of viewers refer to: libs by name and debug id, addresses relative to the lib.
 * Requests name nothing else: neither files nor code outside of the capture.
 */
#pragma once

#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct capture_index {
    const struct profile *profile; /* borrowed */
    uint32_t *order;               /* addresses by lib, then svma; owned */
    char (*debug_ids)[34];         /* by lib; owned */
};

/* 0 or -ENOMEM. */
int capture_index_open(struct capture_index *index, const struct profile *profile);
void capture_index_close(struct capture_index *index);

/* The next lib of this name and debug id from `from` on; PROFILE_NONE: none. Generations of
 * generated code share both. */
uint32_t capture_index_lib(const struct capture_index *index, uint32_t from, const char *name,
                           const char *debug_id);

/* The sampled address; NULL: not sampled. */
const struct profile_address *capture_index_address(const struct capture_index *index, uint32_t lib,
                                                    uint64_t svma);

/* The symbol that starts there, as an index; PROFILE_NONE: none. */
uint32_t capture_index_symbol(const struct capture_index *index, uint32_t lib, uint64_t svma);

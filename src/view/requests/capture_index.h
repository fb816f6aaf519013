/* SPDX-License-Identifier: MIT */
/*
 * What requests of viewers refer to: libs by name and debug id, addresses relative to the lib.
 * Requests name nothing else: neither files nor code outside of the capture.
 */
#pragma once

#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct capture_index {
    const struct profile *profile; /* borrowed */
    uint32_t *order;               /* addresses by lib, then svma; owned */
    char (*debug_ids)[34];         /* by lib; owned */
    struct intern *keys;           /* of libs: debug id and name; owned */
    uint32_t *first;               /* by key: a lib; owned */
    uint32_t *next;                /* by lib: the next one of the key, or PROFILE_NONE; owned */
    uint32_t *key;                 /* by lib; INTERN_NONE: synthetic; owned */
};

/* 0 or -ENOMEM. */
int capture_index_open(struct capture_index *index, const struct profile *profile);
void capture_index_close(struct capture_index *index);

/* The first lib of this name and debug id; PROFILE_NONE: none. Generations of generated code share
 * both: see `next`. */
uint32_t capture_index_lib(const struct capture_index *index, const char *name,
                           const char *debug_id);

/* The sampled address; NULL: not sampled. */
const struct profile_address *capture_index_address(const struct capture_index *index, uint32_t lib,
                                                    uint64_t svma);

/* The symbol that starts there, `start` bytes behind the base of the lib or of another one with its
 * name and debug id, as an index; PROFILE_NONE: none. */
uint32_t capture_index_symbol(const struct capture_index *index, uint32_t lib, uint64_t start);

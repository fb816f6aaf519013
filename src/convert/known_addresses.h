/* SPDX-License-Identifier: MIT */
/*
 * What user addresses were found to be: programs are in the same places again and again. Two addresses of one slot
 * replace each other. There are more slots when more is asked for: small recordings are over before the pages of a
 * large table are there.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct known_address {
    uint64_t generation, avma; /* 0, 0: empty */
    uint32_t address;          /* of the profile */
};

struct known_addresses { /* zeros: empty */
    struct known_address *slots;
    size_t slot_count;
    size_t added; /* since there are as many slots */
};

void known_addresses_free(struct known_addresses *known);

/* generation: of all maps, another number for each state of each, not 0. PROFILE_NONE: not known. */
uint32_t known_addresses_find(const struct known_addresses *known, uint64_t generation,
                              uint64_t avma);
/* Does nothing when memory is out. */
void known_addresses_add(struct known_addresses *known, const struct known_address *found);

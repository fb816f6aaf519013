/* SPDX-License-Identifier: MIT */
/* What waits are for: the lock and its holder, the child, the file, pipe or socket. */
#pragma once

#include "profile/profile.h"
#include "profile/waits.h"

struct profile_wait_object { /* of an off-CPU sample */
    uint64_t time_ns, weight;
    uint64_t address; /* of a futex; 0: none */
    uint32_t thread;  /* index */
    uint32_t call;
    /* Of a lock the holder's tid; of a wait for a child its pid; of other waits N of the note
     * "off_cpu.object.N", "WAITED_NS TEXT"; 0: none, or not recorded. Of sums: the number of their
     * intervals. */
    uint32_t number;
};

/* 0 or -ENOMEM. */
int profile_add_wait_object(struct profile *profile, const struct profile_sample *sample,
                            uint64_t address, uint32_t number);
/* After the last one: wait_object_of() needs the order. */
void profile_sort_wait_objects(struct profile *profile);

/* Of a wait: the last one with a number, else the last one; NULL: not recorded. A sum of profiles
 * has none. */
const struct profile_wait_object *wait_object_of(const struct profile *profile,
                                                 const struct profile_wait *wait);
/* How many intervals the wait stands for: more than one for a sum of short waits, or of intervals
 * without a processor. */
uint32_t profile_wait_intervals(const struct profile *profile, const struct profile_wait *wait);

/* "0x55d0c0de, held by 7 worker", "process 12 make", "/dev/pts/0"; "": nothing is known. Not
 * escaped. */
struct wait_object_text {
    char text[256];
};
struct wait_object_text wait_object_text(const struct profile *profile,
                                         const struct profile_wait_object *object);

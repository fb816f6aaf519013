/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait at the end of the recording, or at their own end, and have waited for long; and
 * threads that have waited for long before. Threads with equal stacks are a group. Without idle
 * pools (wait_groups.h).
 */
#pragma once

#include "cli/waits/wait_groups.h"
#include "profile/wait_objects.h"

#define STUCK_AFTER_NS UINT64_C(5000000000)

struct stuck_wait {
    struct profile_wait wait;
    bool is_at_end;
    uint32_t group;                           /* in groups */
    const struct profile_wait_object *object; /* see wait_object_of() */
};

struct stuck_group {
    uint32_t stack;
    struct profile_wait_reason reason;
    bool is_at_end;
    size_t first, count; /* in waits, by decreasing length */
};

struct stuck {
    const struct profile *profile; /* borrowed */
    struct stuck_wait *waits;      /* by group */
    size_t wait_count, wait_capacity;
    struct stuck_group *groups; /* at the end first, then by the longest wait */
    size_t count, capacity;
    size_t at_end;   /* threads */
    size_t left_out; /* threads of idle pools, with a wait as long */
};

/* Needs what wait_groups_build() needs. 0 or -ENOMEM. */
int stuck_find(struct stuck *stuck, const struct profile *profile, uint64_t after_ns,
               bool with_idle);
void stuck_free(struct stuck *stuck);

/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time by stack and reason, for `rec report --off-cpu`.
 *
 *     waits ─▶ (stack, thread) ─┬─▶ group: a stack, by any number of threads ─▶ reason
 *                               └─▶ pool: the idle threads of a stack
 *
 * Stacks are equal with the same functions in the same order. Idle are two or more threads of a
 * process that wait at one stack only, all the time, for a reason that may mean a lack of work: not
 * for a lock, a disk or another thread's end. Pools have no part in shares.
 */
#pragma once

#include "profile/profile.h"
#include "profile/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wait_sum {
    uint64_t total_ns;
    uint64_t longest_single_ns, longest_sum_ns; /* of one interval, of several with one sum */
    uint64_t waits; /* recorded ones: waits met at a tick, and all intervals of sums */
};

/* The longest wait; 0: unknown, an interval of a sum may be longer. */
uint64_t wait_sum_longest_ns(const struct wait_sum *sum);

struct wait_member { /* a thread at a stack */
    uint32_t thread, group;
    struct wait_sum sum;
    bool is_idle;
};

struct wait_group {
    uint32_t stack; /* of the profile, with the leaf; one of the equal stacks */
    struct profile_wait_reason reason;
    struct wait_sum sum;  /* of all members in the shares, … */
    struct wait_sum pool; /* … and of the idle members */
    size_t first_member;  /* in members, by decreasing time */
    size_t member_count;  /* … idle members behind the others */
    size_t idle_count;    /* of them */
};

struct wait_reason_sum {
    struct profile_wait_reason reason;
    struct wait_sum sum;
};

struct wait_groups {
    const struct profile *profile; /* borrowed */
    struct wait_group *groups;     /* by reason (decreasing), then decreasing time */
    size_t count, capacity;
    struct wait_member *members; /* by group */
    size_t member_count, member_capacity;
    struct wait_reason_sum *reasons; /* by decreasing time */
    size_t reason_count, reason_capacity;
    uint64_t total_ns;    /* in the shares */
    uint64_t idle_ns;     /* of pools */
    uint64_t runnable_ns; /* of all threads */
};

/* with_idle: no pools. The profile has off-CPU time and samples with times, and is resolved. 0 or
 * -ENOMEM. */
int wait_groups_build(struct wait_groups *groups, const struct profile *profile, bool with_idle);
void wait_groups_free(struct wait_groups *groups);

/* By stack of the profile: equal numbers for equal functions in the same order. Freed by the
 * caller; NULL: out of memory. */
uint32_t *wait_groups_paths(const struct profile *profile);

/* SPDX-License-Identifier: MIT */
/*
 * Iteration over a profile's samples: thread by thread, for sums; one event of one thread; or all
 * samples in order of time.
 *
 *     struct profile_walk walk = profile_walk_all(profile);
 *     for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));)
 *
 * A sample is valid until the next call. After linking, samples have a stack; samples without a
 * call have the stack of "[no stack]". Copy a walk to return to its position later. Do not add
 * samples during a walk.
 */
#pragma once

#include "profile/profile.h"

struct profile_walk {
    const struct profile *profile;
    uint32_t next_list; /* of the current thread, plus one; 0: none */
    uint32_t next_thread, end_thread;
    struct sample_reader reader;
};

struct profile_walk profile_walk_all(const struct profile *profile);
/* list NULL: no samples. */
struct profile_walk profile_walk_list(const struct profile *profile,
                                      const struct profile_list *list);
struct profile_walk profile_walk_of(const struct profile *profile, uint32_t thread, uint32_t event);
/* NULL at the end. */
const struct profile_sample *profile_walk_next(struct profile_walk *walk);

/* The same samples without stacks, for callers that need few stacks: reading a stack is a cache
 * miss per sample. */
struct sample_reader profile_read_list(const struct profile_list *list); /* NULL: no samples */

/* The stack of a sample's call, after linking. */
static inline uint32_t profile_stack_of(const struct profile *profile, uint32_t call)
{
    call = call == PROFILE_NONE ? profile->no_stack_call : call;
    return call == PROFILE_NONE ? PROFILE_NONE : profile->calls[call].stack;
}

/* Prefetches the stack of a call. */
static inline void profile_expect_stack(const struct profile *profile, uint32_t call)
{
    if (call != PROFILE_NONE)
        __builtin_prefetch(&profile->calls[call].stack);
}

struct profile_by_time {        /* a heap, the list with the oldest sample first */
    struct profile_walk *walks; /* owned; each at a sample */
    size_t count;
    bool is_started;
};

/* Iterate over all threads, or over one thread and the events accepted by `takes`. 0 or -ENOMEM.
 * Samples with equal times are ordered by thread, then by event. */
int profile_by_time_open(struct profile_by_time *by_time, const struct profile *profile);
int profile_by_time_open_thread(struct profile_by_time *by_time, const struct profile *profile,
                                uint32_t thread,
                                bool (*takes)(const struct profile *profile, uint32_t event));
const struct profile_sample *profile_by_time_next(struct profile_by_time *by_time);
void profile_by_time_close(struct profile_by_time *by_time);

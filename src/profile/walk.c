/* SPDX-License-Identifier: MIT */
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct profile_walk profile_walk_thread(const struct profile *profile, uint32_t thread)
{
    return (struct profile_walk){.profile = profile,
                                 .next_thread = thread,
                                 .end_thread = thread + (thread < profile->thread_count)};
}

struct profile_walk profile_walk_all(const struct profile *profile)
{
    return (struct profile_walk){.profile = profile, .end_thread = (uint32_t)profile->thread_count};
}

static void add_stack(const struct profile *profile, struct profile_sample *sample)
{
    if (sample->call == PROFILE_NONE)
        sample->call = profile->no_stack_call;
    sample->stack =
        sample->call == PROFILE_NONE ? PROFILE_NONE : profile->calls[sample->call].stack;
}

const struct profile_sample *profile_walk_next(struct profile_walk *walk)
{
    while (!sample_reader_next(&walk->reader)) {
        if (walk->next_thread == walk->end_thread)
            return NULL;
        uint32_t thread = walk->next_thread++;
        walk->reader = sample_list_read(&walk->profile->threads[thread].samples, thread);
    }
    add_stack(walk->profile, &walk->reader.sample);
    return &walk->reader.sample;
}

const struct profile_sample *profile_walk_next_of(struct profile_walk *walk, uint32_t event)
{
    const struct profile_sample *sample;
    do
        sample = profile_walk_next(walk);
    while (sample && sample->event != event);
    return sample;
}

static bool is_older(const struct profile_walk *a, const struct profile_walk *b)
{
    const struct profile_sample *left = &a->reader.sample, *right = &b->reader.sample;
    return left->time_ns != right->time_ns ? left->time_ns < right->time_ns
                                           : left->thread < right->thread;
}

static void sift_down(struct profile_by_time *by_time, size_t at)
{
    struct profile_walk *walks = by_time->walks;
    for (size_t child; (child = 2 * at + 1) < by_time->count; at = child) {
        if (child + 1 < by_time->count && is_older(&walks[child + 1], &walks[child]))
            child++;
        if (!is_older(&walks[child], &walks[at]))
            return;
        struct profile_walk swapped = walks[at];
        walks[at] = walks[child];
        walks[child] = swapped;
    }
}

int profile_by_time_open(struct profile_by_time *by_time, const struct profile *profile)
{
    *by_time = (struct profile_by_time){
        .walks = calloc(profile->thread_count + 1, sizeof(*by_time->walks))};
    if (!by_time->walks)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        struct profile_walk *walk = &by_time->walks[by_time->count];
        *walk = profile_walk_thread(profile, i);
        by_time->count += profile_walk_next(walk) != NULL;
    }
    for (size_t i = by_time->count / 2; i-- > 0;)
        sift_down(by_time, i);
    return 0;
}

const struct profile_sample *profile_by_time_next(struct profile_by_time *by_time)
{
    struct profile_walk *walks = by_time->walks;
    if (by_time->is_started && by_time->count && !profile_walk_next(&walks[0]))
        walks[0] = walks[--by_time->count];
    if (by_time->is_started)
        sift_down(by_time, 0);
    by_time->is_started = true;
    return by_time->count ? &walks[0].reader.sample : NULL;
}

void profile_by_time_close(struct profile_by_time *by_time)
{
    free(by_time->walks);
    *by_time = (struct profile_by_time){0};
}

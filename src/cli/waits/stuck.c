/* SPDX-License-Identifier: MIT */
#include "cli/waits/stuck.h"

#include "base/containers/array.h"
#include "base/containers/intern.h"
#include "profile/wait_objects.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

/* A thread killed or woken at the end of the recording still runs for a moment; the command, which
 * may have sent the signal, for longer. */
enum { END_SLACK_NS = 100000000, LAST_NS = 1000000000 };

void stuck_free(struct stuck *stuck)
{
    free(stuck->waits);
    free(stuck->groups);
    *stuck = (struct stuck){0};
}

/* Threads of a command that has exited by itself end with the command, whatever they wait for. */
static bool has_ended_well(const struct profile *profile, uint32_t thread)
{
    return profile->threads[thread].end_ns && profile_note(profile, "exited");
}

static bool is_at_end(const struct profile *profile, const struct profile_wait *wait)
{
    uint64_t end_ns = profile->threads[wait->thread].end_ns;
    end_ns = end_ns ? end_ns : profile->end_ns;
    return !has_ended_well(profile, wait->thread) && end_ns + LAST_NS >= profile->end_ns &&
           profile_wait_end(wait) + END_SLACK_NS >= end_ns;
}

/* The last wait, if it lasts to the end, else the longest one; false: shorter than after_ns. */
static bool find_wait(const struct profile *profile, uint32_t thread, uint64_t after_ns,
                      struct stuck_wait *found)
{
    struct profile_waits waits = profile_waits_of(profile, thread);
    struct profile_wait wait;
    *found = (struct stuck_wait){.wait.thread = thread};
    while (profile_waits_next(&waits, &wait)) {
        if (wait.length_ns < after_ns ||
            wait_reason_of_call(profile, wait.call).kind == PROFILE_SHORT_WAITS)
            continue;
        if (profile_wait_intervals(profile, &wait) > 1)
            continue;
        bool is_last = is_at_end(profile, &wait);
        if (is_last || wait.length_ns > found->wait.length_ns)
            *found = (struct stuck_wait){.wait = wait, .is_at_end = is_last};
    }
    return found->wait.length_ns > 0;
}

/* idle[thread]: member of a pool. NULL: out of memory. */
static bool *find_idle(const struct profile *profile)
{
    struct wait_groups groups;
    bool *idle = calloc(profile->thread_count + 1, sizeof(*idle));
    int err = idle ? wait_groups_build(&groups, profile, false) : -ENOMEM;
    if (err != 0) {
        free(idle);
        return NULL;
    }
    for (size_t i = 0; i < groups.member_count; i++)
        idle[groups.members[i].thread] |= groups.members[i].is_idle;
    wait_groups_free(&groups);
    return idle;
}

static int collect(struct stuck *stuck, uint64_t after_ns, bool with_idle)
{
    const struct profile *profile = stuck->profile;
    bool *idle = find_idle(profile);
    int err = idle ? 0 : -ENOMEM;
    struct stuck_wait found;
    for (uint32_t i = 0; i < profile->thread_count && err == 0; i++) {
        if (!find_wait(profile, i, after_ns, &found))
            continue;
        if (idle[i] && !with_idle) {
            stuck->left_out++;
            continue;
        }
        struct stuck_wait *added =
            ARRAY_PUSH(stuck->waits, stuck->wait_count, stuck->wait_capacity);
        if (added) {
            *added = found;
            added->object = wait_object_of(profile, &found.wait);
        }
        err = added ? 0 : -ENOMEM;
        stuck->at_end += found.is_at_end;
    }
    free(idle);
    return err;
}

static int by_group(const void *a, const void *b)
{
    const struct stuck_wait *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->wait.length_ns != right->wait.length_ns)
        return left->wait.length_ns < right->wait.length_ns ? 1 : -1;
    return (left->wait.thread > right->wait.thread) - (left->wait.thread < right->wait.thread);
}

static int by_age(const void *a, const void *b, void *context)
{
    const struct stuck_wait *waits = context;
    const struct stuck_group *left = a, *right = b;
    uint64_t left_ns = waits[left->first].wait.length_ns;
    uint64_t right_ns = waits[right->first].wait.length_ns;
    if (left->is_at_end != right->is_at_end)
        return left->is_at_end ? -1 : 1;
    if (left_ns != right_ns)
        return left_ns < right_ns ? 1 : -1;
    return (left->first > right->first) - (left->first < right->first);
}

static int add_group(struct stuck *stuck, const struct stuck_wait *wait)
{
    struct stuck_group *group = ARRAY_PUSH(stuck->groups, stuck->count, stuck->capacity);
    if (!group)
        return -ENOMEM;
    *group = (struct stuck_group){.stack = profile_stack_of(stuck->profile, wait->wait.call),
                                  .reason = wait_reason_of_call(stuck->profile, wait->wait.call),
                                  .is_at_end = wait->is_at_end};
    return 0;
}

/* As in wait_groups.h, but waits at the end and earlier ones stay apart. */
static int group(struct stuck *stuck, const uint32_t *paths, struct intern *keys)
{
    int err = 0;
    for (size_t i = 0; i < stuck->wait_count && err == 0; i++) {
        struct stuck_wait *wait = &stuck->waits[i];
        uint32_t stack = profile_stack_of(stuck->profile, wait->wait.call);
        const uint32_t key[2] = {stack == PROFILE_NONE ? stack : paths[stack], wait->is_at_end};
        wait->group = intern_add(keys, key, sizeof(key));
        if (wait->group == stuck->count)
            err = add_group(stuck, wait);
        else if (wait->group == INTERN_NONE)
            err = -ENOMEM;
    }
    if (err != 0 || stuck->wait_count == 0)
        return err;
    qsort(stuck->waits, stuck->wait_count, sizeof(*stuck->waits), by_group);
    for (size_t i = 0; i < stuck->wait_count; i++) {
        struct stuck_group *of = &stuck->groups[stuck->waits[i].group];
        if (of->count++ == 0)
            of->first = i;
    }
    qsort_r(stuck->groups, stuck->count, sizeof(*stuck->groups), by_age, stuck->waits);
    return 0;
}

int stuck_find(struct stuck *stuck, const struct profile *profile, uint64_t after_ns,
               bool with_idle)
{
    *stuck = (struct stuck){.profile = profile};
    uint32_t *paths = wait_groups_paths(profile);
    struct intern *keys = intern_new();
    int err = paths && keys ? collect(stuck, after_ns, with_idle) : -ENOMEM;
    if (err == 0)
        err = group(stuck, paths, keys);
    free(paths);
    intern_free(keys);
    if (err != 0)
        stuck_free(stuck);
    return err;
}

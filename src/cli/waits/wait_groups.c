/* SPDX-License-Identifier: MIT */
#include "cli/waits/wait_groups.h"

#include "base/containers/array.h"
#include "base/containers/intern.h"
#include "profile/wait_objects.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void wait_groups_free(struct wait_groups *groups)
{
    free(groups->groups);
    free(groups->members);
    free(groups->reasons);
    *groups = (struct wait_groups){0};
}

uint32_t *wait_groups_paths(const struct profile *profile)
{
    uint32_t *paths = calloc(profile->stack_count + 1, sizeof(*paths));
    struct intern *known = intern_new();
    bool is_whole = paths && known;
    for (size_t i = 0; is_whole && i < profile->stack_count; i++) {
        const struct profile_stack *stack = &profile->stacks[i];
        const uint32_t key[2] = {stack->parent == PROFILE_NONE ? PROFILE_NONE
                                                               : paths[stack->parent],
                                 profile->frames[stack->frame].func};
        paths[i] = intern_add(known, key, sizeof(key));
        is_whole = paths[i] != INTERN_NONE;
    }
    intern_free(known);
    if (is_whole)
        return paths;
    free(paths);
    return NULL;
}

static void add_to(struct wait_sum *sum, const struct wait_sum *more)
{
    sum->total_ns += more->total_ns;
    sum->waits += more->waits;
    if (more->longest_single_ns > sum->longest_single_ns)
        sum->longest_single_ns = more->longest_single_ns;
    if (more->longest_sum_ns > sum->longest_sum_ns)
        sum->longest_sum_ns = more->longest_sum_ns;
}

/* Intervals of a sum are not known one by one: a sum larger than the longest wait hides the
 * answer. */
uint64_t wait_sum_longest_ns(const struct wait_sum *sum)
{
    return sum->longest_sum_ns > sum->longest_single_ns ? 0 : sum->longest_single_ns;
}

struct building {
    struct wait_groups *groups;
    uint32_t *paths;
    struct intern *group_keys, *member_keys; /* path; group and thread */
};

/* Index of the group; PROFILE_NONE: out of memory. */
static uint32_t group_of(struct building *building, const struct profile_wait *wait)
{
    struct wait_groups *groups = building->groups;
    uint32_t stack = profile_stack_of(groups->profile, wait->call);
    uint32_t path = stack == PROFILE_NONE ? PROFILE_NONE : building->paths[stack];
    uint32_t id = intern_add(building->group_keys, &path, sizeof(path));
    if (id == INTERN_NONE || id < groups->count)
        return id;
    struct wait_group *group = ARRAY_PUSH(groups->groups, groups->count, groups->capacity);
    if (!group)
        return PROFILE_NONE;
    *group = (struct wait_group){.stack = stack,
                                 .reason = wait_reason_of_call(groups->profile, wait->call)};
    return id;
}

static int add_wait(struct building *building, const struct profile_wait *wait)
{
    struct wait_groups *groups = building->groups;
    const uint32_t key[2] = {group_of(building, wait), wait->thread};
    if (key[0] == PROFILE_NONE)
        return -ENOMEM;
    uint32_t id = intern_add(building->member_keys, key, sizeof(key));
    if (id == groups->member_count) {
        struct wait_member *added =
            ARRAY_PUSH(groups->members, groups->member_count, groups->member_capacity);
        if (!added)
            return -ENOMEM;
        *added = (struct wait_member){.thread = wait->thread, .group = key[0]};
    }
    if (id == INTERN_NONE)
        return -ENOMEM;
    struct wait_sum sum = {.total_ns = wait->length_ns,
                           .waits = profile_wait_intervals(groups->profile, wait)};
    *(sum.waits == 1 ? &sum.longest_single_ns : &sum.longest_sum_ns) = wait->length_ns;
    add_to(&groups->members[id].sum, &sum);
    return 0;
}

static int add_all(struct building *building)
{
    const struct profile *profile = building->groups->profile;
    int err = 0;
    for (uint32_t i = 0; i < profile->thread_count && err == 0; i++) {
        struct profile_waits waits = profile_waits_of(profile, i);
        struct profile_wait wait;
        while (err == 0 && profile_waits_next(&waits, &wait))
            err = add_wait(building, &wait);
    }
    return err;
}

/* Reasons of threads with work to do. */
static bool is_never_idle(const struct profile_wait_reason *reason)
{
    static const char *const busy[] = {"lock",      "read-write lock", "one-time initialization",
                                       "file lock", "page fault",      "disk",
                                       "stopped",   "barrier",         "join",
                                       "child"};
    for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
        if (strcmp(busy[i], reason->text) == 0)
            return true;
    return false;
}

static bool is_wait(const struct wait_group *group)
{
    return group->reason.kind == PROFILE_WAITING || group->reason.kind == PROFILE_WAIT_UNKNOWN;
}

/* By group, then process: first candidates for pools, so that their number is known. */
static int by_process(const void *a, const void *b, void *context)
{
    const struct profile *profile = context;
    const struct wait_member *left = a, *right = b;
    uint32_t left_process = profile->threads[left->thread].process;
    uint32_t right_process = profile->threads[right->thread].process;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left_process != right_process)
        return left_process < right_process ? -1 : 1;
    return (left->thread > right->thread) - (left->thread < right->thread);
}

/* places[thread]: the number of its stacks. A thread with a second stack has worked in between. */
static bool may_be_idle(const struct wait_groups *groups, const struct wait_member *member,
                        const uint32_t *places)
{
    const struct wait_group *group = &groups->groups[member->group];
    return is_wait(group) && places[member->thread] == 1 && !is_never_idle(&group->reason);
}

static void mark_pools(struct wait_groups *groups, const uint32_t *places)
{
    const struct profile *profile = groups->profile;
    struct wait_member *members = groups->members;
    qsort_r(members, groups->member_count, sizeof(*members), by_process, (void *)profile);
    for (size_t first = 0, end; first < groups->member_count; first = end) {
        uint32_t process = profile->threads[members[first].thread].process;
        size_t idle = 0;
        for (end = first;
             end < groups->member_count && members[end].group == members[first].group &&
             profile->threads[members[end].thread].process == process;
             end++)
            idle += may_be_idle(groups, &members[end], places);
        for (size_t i = first; idle >= 2 && i < end; i++)
            members[i].is_idle = may_be_idle(groups, &members[i], places);
    }
}

static int find_pools(struct wait_groups *groups)
{
    uint32_t *places = calloc(groups->profile->thread_count + 1, sizeof(*places));
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < groups->member_count; i++)
        places[groups->members[i].thread] += is_wait(&groups->groups[groups->members[i].group]);
    mark_pools(groups, places);
    free(places);
    return 0;
}

static int by_group(const void *a, const void *b)
{
    const struct wait_member *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->is_idle != right->is_idle)
        return left->is_idle ? 1 : -1;
    if (left->sum.total_ns != right->sum.total_ns)
        return left->sum.total_ns < right->sum.total_ns ? 1 : -1;
    return (left->thread > right->thread) - (left->thread < right->thread);
}

static struct wait_reason_sum *reason_of(struct wait_groups *groups,
                                         const struct profile_wait_reason *reason)
{
    for (size_t i = 0; i < groups->reason_count; i++)
        if (groups->reasons[i].reason.kind == reason->kind &&
            strcmp(groups->reasons[i].reason.text, reason->text) == 0)
            return &groups->reasons[i];
    struct wait_reason_sum *added =
        ARRAY_PUSH(groups->reasons, groups->reason_count, groups->reason_capacity);
    if (added)
        *added = (struct wait_reason_sum){.reason = *reason};
    return added;
}

static int add_up(struct wait_groups *groups)
{
    qsort(groups->members, groups->member_count, sizeof(*groups->members), by_group);
    for (size_t i = 0; i < groups->member_count; i++) {
        const struct wait_member *member = &groups->members[i];
        struct wait_group *group = &groups->groups[member->group];
        if (group->member_count++ == 0)
            group->first_member = i;
        group->idle_count += member->is_idle;
        add_to(member->is_idle ? &group->pool : &group->sum, &member->sum);
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct wait_group *group = &groups->groups[i];
        struct wait_reason_sum *reason = reason_of(groups, &group->reason);
        if (!reason)
            return -ENOMEM;
        add_to(&reason->sum, &group->sum);
        groups->total_ns += group->sum.total_ns;
        groups->idle_ns += group->pool.total_ns;
        groups->runnable_ns += group->reason.kind == PROFILE_RUNNABLE ? group->sum.total_ns : 0;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct wait_reason_sum *left = a, *right = b;
    if (left->sum.total_ns != right->sum.total_ns)
        return left->sum.total_ns < right->sum.total_ns ? 1 : -1;
    return strcmp(left->reason.text, right->reason.text);
}

static int by_reason(const void *a, const void *b, void *context)
{
    struct wait_groups *groups = context;
    const struct wait_group *left = a, *right = b;
    const struct wait_reason_sum *left_reason = reason_of(groups, &left->reason);
    const struct wait_reason_sum *right_reason = reason_of(groups, &right->reason);
    if (left_reason != right_reason)
        return left_reason < right_reason ? -1 : 1;
    if (left->sum.total_ns != right->sum.total_ns)
        return left->sum.total_ns < right->sum.total_ns ? 1 : -1;
    return (left->stack > right->stack) - (left->stack < right->stack);
}

static int build(struct building *building, bool with_idle)
{
    struct wait_groups *groups = building->groups;
    int err = add_all(building);
    if (err == 0 && !with_idle)
        err = find_pools(groups);
    if (err == 0)
        err = add_up(groups);
    if (err != 0)
        return err;
    qsort(groups->reasons, groups->reason_count, sizeof(*groups->reasons), by_time);
    qsort_r(groups->groups, groups->count, sizeof(*groups->groups), by_reason, groups);
    return 0;
}

int wait_groups_build(struct wait_groups *groups, const struct profile *profile, bool with_idle)
{
    *groups = (struct wait_groups){.profile = profile};
    struct building building = {.groups = groups,
                                .paths = wait_groups_paths(profile),
                                .group_keys = intern_new(),
                                .member_keys = intern_new()};
    bool is_whole = building.paths && building.group_keys && building.member_keys;
    int err = is_whole ? build(&building, with_idle) : -ENOMEM;
    free(building.paths);
    intern_free(building.group_keys);
    intern_free(building.member_keys);
    if (err != 0)
        wait_groups_free(groups);
    return err;
}

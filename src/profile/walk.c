/* SPDX-License-Identifier: MIT */
/*
 * Two orders. Thread by thread, lists are read one after the other: each is a sequence of packed
 * bytes, and nothing is sorted. By time, all lists are read at once, as a merge of sorted
 * sequences:
 *
 *     walks, a heap     walks[0] ── the oldest sample, handed out last
 *                         ╱  ╲
 *                  walks[1]  walks[2]    each at its next sample
 *
 * walks[0] is advanced only by the next call: the caller still reads its sample.
 */
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct sample_reader profile_read_list(const struct profile_list *list)
{
    return list ? sample_list_read(&list->samples, list->thread, (uint16_t)list->event)
                : (struct sample_reader){.at = NULL};
}

struct profile_walk profile_walk_list(const struct profile *profile,
                                      const struct profile_list *list)
{
    return (struct profile_walk){.profile = profile, .reader = profile_read_list(list)};
}

struct profile_walk profile_walk_of(const struct profile *profile, uint32_t thread, uint32_t event)
{
    return profile_walk_list(profile, profile_list_of(profile, thread, event));
}

struct profile_walk profile_walk_all(const struct profile *profile)
{
    return (struct profile_walk){.profile = profile, .end_thread = (uint32_t)profile->thread_count};
}

static void add_stack(const struct profile *profile, struct profile_sample *sample)
{
    if (sample->call == PROFILE_NONE)
        sample->call = profile->no_stack_call;
    sample->stack = profile_stack_of(profile, sample->call);
}

/* Advances to the next list of the profile. */
static bool next_list(struct profile_walk *walk)
{
    const struct profile *profile = walk->profile;
    while (walk->next_list == 0 && walk->next_thread < walk->end_thread)
        walk->next_list = profile->threads[walk->next_thread++].first_list;
    if (walk->next_list == 0)
        return false;
    const struct profile_list *list = &profile->lists[walk->next_list - 1];
    walk->reader = profile_walk_list(profile, list).reader;
    walk->next_list = list->next;
    return true;
}

const struct profile_sample *profile_walk_next(struct profile_walk *walk)
{
    while (!sample_reader_next(&walk->reader))
        if (!next_list(walk))
            return NULL;
    add_stack(walk->profile, &walk->reader.sample);
    return &walk->reader.sample;
}

/* A total order over the walks, as each list is another thread or event: equal times give the same
 * order in every run. */
static bool is_older(const struct profile_walk *a, const struct profile_walk *b)
{
    const struct profile_sample *left = &a->reader.sample, *right = &b->reader.sample;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns;
    return left->thread != right->thread ? left->thread < right->thread
                                         : left->event < right->event;
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

/* Never of no bytes: NULL always means out of memory. */
static int make_room(struct profile_by_time *by_time, size_t count)
{
    *by_time = (struct profile_by_time){.walks = calloc(count + 1, sizeof(*by_time->walks))};
    return by_time->walks ? 0 : -ENOMEM;
}

/* A list without samples gets no place in the heap. */
static void add_list(struct profile_by_time *by_time, const struct profile *profile,
                     const struct profile_list *list)
{
    struct profile_walk *walk = &by_time->walks[by_time->count];
    *walk = profile_walk_list(profile, list);
    by_time->count += profile_walk_next(walk) != NULL;
}

static void put_in_order(struct profile_by_time *by_time)
{
    for (size_t i = by_time->count / 2; i-- > 0;)
        sift_down(by_time, i);
}

int profile_by_time_open(struct profile_by_time *by_time, const struct profile *profile)
{
    int err = make_room(by_time, profile->list_count);
    for (size_t i = 0; err == 0 && i < profile->list_count; i++)
        add_list(by_time, profile, &profile->lists[i]);
    put_in_order(by_time);
    return err;
}

/* next: an index plus one, as in profile_list.next; 0 gives NULL. */
static const struct profile_list *list_at(const struct profile *profile, uint32_t next)
{
    return next ? &profile->lists[next - 1] : NULL;
}

int profile_by_time_open_thread(struct profile_by_time *by_time, const struct profile *profile,
                                uint32_t thread,
                                bool (*takes)(const struct profile *profile, uint32_t event))
{
    const struct profile_list *first = list_at(profile, profile->threads[thread].first_list);
    size_t count = 0;
    for (const struct profile_list *list = first; list; list = list_at(profile, list->next))
        count += takes(profile, list->event);
    int err = make_room(by_time, count);
    for (const struct profile_list *list = first; err == 0 && list;
         list = list_at(profile, list->next))
        if (takes(profile, list->event))
            add_list(by_time, profile, list);
    put_in_order(by_time);
    return err;
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

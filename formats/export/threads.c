/* SPDX-License-Identifier: MIT */
#include "export/threads.h"

#include <errno.h>
#include <stdlib.h>

/* views[] still has all threads, at their index in the profile. */
static void count_samples(struct thread_list *list, const struct profile *profile, uint32_t event)
{
    for (size_t i = 0; i < profile->list_count; i++)
        if (profile->lists[i].event == event) {
            list->views[profile->lists[i].thread].sample_count = profile->lists[i].samples.count;
            list->sample_count += profile->lists[i].samples.count;
        }
    for (size_t i = 0; i < profile->thread_count; i++)
        list->views[i].thread = (uint32_t)i;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* An id's distance from the first id: ids are given in ascending order, and begin again after the
 * largest. */
static uint32_t distance(int32_t first, int32_t id)
{
    return (uint32_t)id - (uint32_t)first;
}

static int compare_processes(const struct profile *profile, uint32_t left, uint32_t right)
{
    const struct profile_process *processes = profile->processes;
    int order = compare_numbers(distance(processes[0].pid, processes[left].pid),
                                distance(processes[0].pid, processes[right].pid));
    return order ? order : compare_numbers(left, right);
}

/* By ids, not by start: of processes and threads created in succession either may be seen first. */
static int compare(const void *a, const void *b, void *context)
{
    const struct profile *profile = context;
    const struct profile_thread *left = &profile->threads[((const struct thread_view *)a)->thread];
    const struct profile_thread *right = &profile->threads[((const struct thread_view *)b)->thread];
    if (left->process != right->process)
        return compare_processes(profile, left->process, right->process);
    if (left->is_main != right->is_main)
        return left->is_main ? -1 : 1;
    int32_t pid = profile->processes[left->process].pid;
    int order = compare_numbers(distance(pid, left->tid), distance(pid, right->tid));
    if (order == 0)
        order = compare_numbers(left->start_ns, right->start_ns);
    return order ? order : (left < right ? -1 : left > right);
}

/* Moves the shown views of a process, of [first, end), to `kept`; returns the new end of `kept`. */
static size_t keep_shown(struct thread_list *list, const struct profile *profile, size_t first,
                         size_t end, size_t kept)
{
    size_t sample_count = 0;
    for (size_t i = first; i < end; i++)
        sample_count += list->views[i].sample_count;
    bool is_shown = sample_count > 0 || list->sample_count == 0;
    bool has_main = profile->threads[list->views[first].thread].is_main;
    size_t first_kept = kept;
    for (size_t i = first; i < end; i++) {
        if (list->views[i].sample_count > 0 || (i == first && is_shown && has_main))
            list->views[kept++] = list->views[i];
    }
    if (kept > first_kept)
        list->views[first_kept].is_main = true;
    return kept;
}

static void drop_hidden(struct thread_list *list, const struct profile *profile)
{
    size_t kept = 0;
    for (size_t first = 0, end; first < list->count; first = end) {
        uint32_t process = profile->threads[list->views[first].thread].process;
        end = first + 1;
        while (end < list->count && profile->threads[list->views[end].thread].process == process)
            end++;
        kept = keep_shown(list, profile, first, end, kept);
    }
    list->count = kept;
}

int thread_list_collect(struct thread_list *list, const struct profile *profile, uint32_t event)
{
    *list = (struct thread_list){.count = profile->thread_count};
    list->views = calloc(profile->thread_count + 1, sizeof(*list->views));
    if (!list->views)
        return -ENOMEM;
    count_samples(list, profile, event);
    qsort_r(list->views, list->count, sizeof(*list->views), compare, (void *)profile);
    drop_hidden(list, profile);
    return 0;
}

void thread_list_free(struct thread_list *list)
{
    free(list->views);
    *list = (struct thread_list){0};
}

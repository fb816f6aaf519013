/* SPDX-License-Identifier: MIT */
#include "cli/report/lifecycle/lifecycle.h"

#include "base/text/log.h"
#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"

#include <stdlib.h>

enum {
    GROUPS_SHOWN = 20,
    THREADS_SHOWN = 5, /* of a group */
    CALLERS_SHOWN = 4,
    NAME_COLUMNS = 48,
    FUNCTIONS_MAX = CALLERS_SHOWN + 2, /* start routine, pthread_create */
};

static double seconds_since_start(const struct profile *profile, uint64_t time_ns)
{
    return time_ns > profile->start_ns ? (double)(time_ns - profile->start_ns) / 1e9 : 0;
}

static const char *name_of(const struct profile *profile, uint32_t thread)
{
    return profile_text(profile, profile->threads[thread].name);
}

static void print_function(const char *name)
{
    char fitted[4 * NAME_COLUMNS + 1];
    printf("%s", ellipsize_name(fitted, sizeof(fitted), name, NAME_COLUMNS));
}

/* "short_life, created in spawn < main by 123 app" */
static void print_group_title(const struct lifecycle *lifecycle, size_t first, size_t count)
{
    const struct profile *profile = lifecycle->profile;
    const struct profile_life_event *created = lifecycle->threads[first].created;
    const char *names[FUNCTIONS_MAX + 1];
    size_t functions =
        lifecycle_functions(profile, created->call, names, sizeof(names) / sizeof(names[0]));
    printf("\n  %zu of ", count);
    print_function(functions ? names[0] : "[unknown]");
    printf(", created in ");
    for (size_t i = 2; i < functions && i < FUNCTIONS_MAX; i++) {
        printf("%s", i > 2 ? " < " : "");
        print_function(names[i]);
    }
    text_print(stdout, "%s by %d %s\n",
               functions > FUNCTIONS_MAX ? " < …"
               : functions > 2           ? ""
                                         : "[unknown]",
               (int)profile->threads[created->by].tid, name_of(profile, created->by));
}

static void print_thread(const struct lifecycle *lifecycle, const struct lifecycle_thread *thread)
{
    const struct profile *profile = lifecycle->profile;
    const struct profile_thread *of = &profile->threads[thread->thread];
    bool is_alive = thread->fate == LIFECYCLE_ALIVE;
    uint64_t second_ns = is_alive ? thread->last_cpu_ns : of->end_ns;
    text_print(stdout, "    %8d  %-15s  created %8.3f s  %s %8.3f s  CPU %s\n", (int)of->tid,
               name_of(profile, thread->thread),
               seconds_since_start(profile, thread->created->time_ns),
               is_alive ? "idle since" : "ended", seconds_since_start(profile, second_ns),
               format_duration(thread->cpu_ns).text);
}

/* The threads behind `first` with the same fate, creator and stack. */
static size_t group_size(const struct lifecycle *lifecycle, size_t first)
{
    const struct lifecycle_thread *start = &lifecycle->threads[first];
    size_t count = 1;
    for (size_t i = first + 1; i < lifecycle->count; i++, count++) {
        const struct lifecycle_thread *next = &lifecycle->threads[i];
        if (next->fate != start->fate || next->created->by != start->created->by ||
            next->created->call != start->created->call)
            break;
    }
    return count;
}

static void print_section(const struct lifecycle *lifecycle, enum lifecycle_fate fate,
                          const char *title)
{
    size_t first = 0, groups = 0, end;
    while (first < lifecycle->count && lifecycle->threads[first].fate != fate)
        first++;
    end = first + lifecycle->fates[fate];
    if (lifecycle->fates[fate])
        printf("\n%s: %zu\n", title, lifecycle->fates[fate]);
    for (; first < end && groups < GROUPS_SHOWN; groups++) {
        size_t count = group_size(lifecycle, first);
        print_group_title(lifecycle, first, count);
        for (size_t i = 0; i < count && i < THREADS_SHOWN; i++)
            print_thread(lifecycle, &lifecycle->threads[first + i]);
        if (count > THREADS_SHOWN)
            printf("              … and %zu more\n", count - THREADS_SHOWN);
        first += count;
    }
    if (first < end)
        printf("\n  … and %zu more threads; --json has all\n", end - first);
}

/* Losses that make a fate uncertain. */
static void print_doubts(const struct lifecycle *lifecycle)
{
    const char *lost = profile_note(lifecycle->profile, "lost_events");
    const char *without = profile_note(lifecycle->profile, "threads_without_slot");
    if (lost && strtoull(lost, NULL, 10))
        text_print(stdout, "%s events were lost: joins may be missing\n", lost);
    if (without && strtoull(without, NULL, 10))
        text_print(stdout, "%s threads had no slot: their creation and calls are missing\n",
                   without);
    if (lifecycle->unmatched)
        printf("%zu joins and detaches are of threads without a recorded creation\n",
               lifecycle->unmatched);
}

void lifecycle_print(const struct lifecycle *lifecycle, const char *path)
{
    const size_t *fates = lifecycle->fates;
    text_print(stdout, "%s, %s: %s created: %zu joined, %zu detached, ", path,
               profile_text(lifecycle->profile, lifecycle->profile->product),
               format_number_of(lifecycle->count, "thread").text, fates[LIFECYCLE_JOINED],
               fates[LIFECYCLE_DETACHED]);
    printf("%zu ended and never joined, %zu alive at the end\n", fates[LIFECYCLE_NEVER_JOINED],
           fates[LIFECYCLE_ALIVE]);
    print_section(lifecycle, LIFECYCLE_NEVER_JOINED,
                  "Never joined (ended, neither joined nor detached: the stack stays mapped)");
    print_section(lifecycle, LIFECYCLE_ALIVE, "Alive at the end of the process or recording");
    print_doubts(lifecycle);
}

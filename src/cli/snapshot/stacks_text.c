/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/stacks_text.h"

#include "base/text/log.h"
#include "cli/report/report.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/format.h"
#include "cli/terminal/frames.h"
#include "export/common.h"
#include "record/procfs/blocked/wait_age.h"

#include <stdio.h>
#include <string.h>

enum {
    THREADS_SHOWN = 8, /* of a group */
    FUNCTION_COLUMNS = 36,
};

static void print_members(const struct stack_group *group)
{
    const struct snapshot_thread *threads = group->named->snapshot.threads;
    const char *separator = "";
    if (group->count == 1)
        printf("\nThread ");
    else
        printf("\n%zu threads: ", group->count);
    for (size_t i = 0; i < group->count && i < THREADS_SHOWN; i++) {
        const struct snapshot_thread *thread = &threads[group->members[i]];
        text_print(stdout, "%s%d %s", separator, (int)thread->tid, thread->facts.name);
        separator = ", ";
    }
    if (group->count > THREADS_SHOWN)
        printf(", and %zu more", group->count - THREADS_SHOWN);
    printf("\n");
}

static void print_ages(const struct stack_group *group)
{
    const struct snapshot_thread *threads = group->named->snapshot.threads;
    uint64_t least_ns = UINT64_MAX, most_ns = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t age_ns = threads[group->members[i]].age_ns;
        if (age_ns == WAIT_AGE_UNKNOWN)
            continue;
        least_ns = age_ns < least_ns ? age_ns : least_ns;
        most_ns = age_ns > most_ns ? age_ns : most_ns;
    }
    if (least_ns == UINT64_MAX)
        return;
    struct formatted least = format_duration(least_ns), most = format_duration(most_ns);
    if (strcmp(least.text, most.text) == 0)
        printf(", for %s", least.text);
    else
        printf(", for %s to %s", least.text, most.text);
}

static void print_activity(const struct stack_group *group)
{
    const struct snapshot_thread *threads = group->named->snapshot.threads;
    uint64_t cpu_ns = 0;
    for (size_t i = 0; i < group->count; i++)
        cpu_ns += threads[group->members[i]].facts.cpu_ns;
    struct wait_text wait = named_snapshot_wait(group->named, group->members[0]);
    const struct snapshot_thread *first = &threads[group->members[0]];
    if (first->is_waiting)
        text_print(stdout, "  waits: %s", wait.text);
    else
        text_print(stdout, "  %s", wait.text[0] ? wait.text : "no stack");
    if (first->is_waiting || first->is_starved)
        print_ages(group);
    printf("; %s CPU\n", format_duration(cpu_ns).text);
}

static void print_state(const struct stack_group *group)
{
    const struct snapshot *snapshot = &group->named->snapshot;
    const struct snapshot_thread *first = &snapshot->threads[group->members[0]];
    if (!snapshot->is_core)
        print_activity(group);
    else if (first->signal)
        printf("  %s\n", named_snapshot_wait(group->named, group->members[0]).text);
    const char *stop_problem = named_snapshot_stop_problem(first);
    if (stop_problem)
        printf("  not stopped: %s\n", stop_problem);
    if (first->problem[0])
        text_print(stdout, "  %s: %s\n", first->has_stack ? "incomplete" : "reason",
                   first->problem);
}

static void print_group(void *context, const struct stack_group *group)
{
    const unsigned *columns = context;
    print_members(group);
    print_state(group);
    frames_print(group->named->profile, group->named->stacks[group->members[0]], *columns,
                 SIZE_MAX);
}

static void print_header(const struct snapshot *snapshot)
{
    text_print(stdout, "%s %d%s (%s), %zu thread%s\n",
               snapshot->is_core ? "Core file of process" : "Process", (int)snapshot->pid,
               export_namespace_id("pid", snapshot->inner_pid).text, snapshot->name,
               snapshot->count, snapshot->count == 1 ? "" : "s");
}

int stacks_print(const struct named_snapshot *named, unsigned columns)
{
    print_header(&named->snapshot);
    int err = named_snapshot_groups(named, print_group, &columns);
    printf("\n");
    return err;
}

static void print_thread(const struct named_snapshot *named, size_t number)
{
    const struct snapshot_thread *thread = &named->snapshot.threads[number];
    const struct thread_facts *facts = &thread->facts;
    char switches[48], age[48] = "";
    uint32_t func = named_snapshot_function(named, number);
    struct wait_text reason = named_snapshot_wait(named, number);
    snprintf(switches, sizeof(switches), "%lu/%lu", (unsigned long)facts->voluntary,
             (unsigned long)facts->involuntary);
    if ((thread->is_waiting || thread->is_starved) && thread->age_ns != WAIT_AGE_UNKNOWN)
        snprintf(age, sizeof(age), "%s", format_duration(thread->age_ns).text);
    printf("%7d  ", (int)thread->tid);
    columns_print(facts->name, 15);
    text_print(stdout, "%c  ", facts->state);
    printf("%9s  ", format_duration(facts->user_ns).text);
    printf("%9s  ", format_duration(facts->kernel_ns).text);
    printf("%9s  %13s  %9s  ", format_duration(facts->delay_ns).text, switches, age);
    columns_print(func == PROFILE_NONE ? "" : report_name(named->profile, func), FUNCTION_COLUMNS);
    text_print(stdout, "%s\n",
               thread->has_stack || thread->is_starved ? reason.text : thread->problem);
}

void threads_print(const struct named_snapshot *named)
{
    print_header(&named->snapshot);
    printf("    tid  name             S       user     kernel      queue       switches"
           "      since  function                              waits for\n");
    for (size_t i = 0; i < named->snapshot.count; i++)
        print_thread(named, i);
    printf("\n");
}

/* SPDX-License-Identifier: MIT */
#include "cli/report/info/info.h"

#include "base/text/log.h"
#include "cli/options/view_options.h"
#include "export/common.h"
#include "profile/metric.h"
#include "profile/synthetic.h"
#include "profile/waits.h"
#include "cli/terminal/format.h"
#include "cli/terminal/weight.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { ROWS_MAX = 30 }; /* of a table; --json has all */

/* A foreign string, with control characters escaped. */
struct clean {
    char text[1024];
};
static struct clean clean(const char *text)
{
    struct clean clean;
    char line[sizeof(clean.text)];
    view_one_line(line, sizeof(line), text);
    text_escape(clean.text, sizeof(clean.text), line);
    return clean;
}

static void print_fact(const char *name, const char *value)
{
    if (value[0])
        printf("%-12s %s\n", name, clean(value).text);
}

static void print_file(const char *path)
{
    struct stat status;
    uint64_t bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    printf("%s, %s, %s\n", clean(path).text, view_age(path).text, format_bytes(bytes).text);
}

static void print_time(const struct profile *profile)
{
    char when[64] = "at an unknown time";
    time_t seconds = (time_t)(profile->start_wall_ns / 1000000000);
    struct tm local;
    if (profile->start_wall_ns && localtime_r(&seconds, &local))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &local);
    uint64_t wall_ns =
        profile->end_ns > profile->start_ns ? profile->end_ns - profile->start_ns : 0;
    printf("%-12s %s%s, for %s\n", "recorded", when,
           profile->is_wall_time_of_file ? " by the file's date" : "",
           format_duration(wall_ns).text);
}

static void print_events(const struct info *info)
{
    const struct profile *profile = info->profile;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        const struct profile_event *event = &profile->events[i];
        printf("%-12s %s", i == profile->main_event ? "event" : "and event",
               clean(profile_text(profile, event->name)).text);
        if (event->period && event->unit == PROFILE_NANOSECONDS)
            printf(", a sample every %s", format_duration(event->period).text);
        else if (event->period > 1)
            printf(", a sample every %s", format_count(event->period).text);
        printf("; %s\n", format_number_of(info->event_samples[i], "sample").text);
    }
}

static void print_facts(const struct info *info)
{
    const struct profile *profile = info->profile;
    print_fact("program", profile_text(profile, profile->product));
    print_fact("command", profile_text(profile, profile->command_line));
    print_fact("system", profile_text(profile, profile->os));
    print_fact("CPU", profile_text(profile, profile->cpu));
    if (profile->cpus_online)
        printf("%-12s %u\n", "CPUs", profile->cpus_online);
    print_time(profile);
    print_events(info);
    printf("%-12s %s, %s %s\n", "samples", format_count(samples_count_measured(profile)).text,
           weight_format(profile, profile_total(profile)).text, clean(weight_noun(profile)).text);
}

static void print_notes(const struct profile *profile)
{
    if (profile->note_count == 0)
        return;
    printf("\nSummary of the recording:\n");
    for (size_t i = 0; i < profile->note_count; i++)
        printf("  %-24s %s\n", clean(profile_text(profile, profile->notes[i].key)).text,
               clean(profile_text(profile, profile->notes[i].value)).text);
}

static int by_weight(const void *a, const void *b, void *shares_of_table)
{
    const struct info_share *shares = shares_of_table;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    if (shares[left].weight != shares[right].weight)
        return shares[left].weight < shares[right].weight ? 1 : -1;
    return left < right ? -1 : left > right;
}

/* The rows of a table in the order of their CPU time. */
static size_t *order_by_weight(const struct info_share *shares, size_t count)
{
    size_t *order = calloc(count + 1, sizeof(*order));
    for (size_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof(*order), by_weight, (void *)shares);
    return order;
}

static void print_more(size_t count)
{
    if (count > ROWS_MAX)
        printf("  … %zu more: --json has all\n", count - ROWS_MAX);
}

static const char *weight_heading(const struct profile *profile)
{
    return profile_main_event(profile).unit == PROFILE_NANOSECONDS ? weight_noun(profile) : "count";
}

static void print_processes(const struct info *info)
{
    const struct profile *profile = info->profile;
    size_t *order = order_by_weight(info->processes, profile->process_count);
    printf("\nProcesses: %zu\n      pid   parent  %8s   samples  name\n", profile->process_count,
           weight_heading(profile));
    for (size_t i = 0; order && i < profile->process_count && i < ROWS_MAX; i++) {
        const struct profile_process *process = &profile->processes[order[i]];
        const struct info_share *share = &info->processes[order[i]];
        printf(" %8d %8d  %8s  %8s  %s%s\n", process->pid, process->parent_pid,
               weight_format(profile, share->weight).text, format_count(share->samples).text,
               clean(profile_text(profile, process->name)).text,
               export_namespace_id("pid", process->namespace_pid).text);
    }
    print_more(profile->process_count);
    free(order);
}

static void print_off_cpu(const struct profile *profile, uint32_t thread)
{
    const struct info_times times = info_times(profile, thread);
    printf("  %8s  %8s", format_duration(times.waiting_ns).text,
           format_duration(times.runnable_ns).text);
}

static void print_threads(const struct info *info)
{
    const struct profile *profile = info->profile;
    size_t *order = order_by_weight(info->threads, profile->thread_count);
    bool has_off_cpu = profile_metric_event(profile, PROFILE_OFF_CPU) != PROFILE_NONE;
    printf("\nThreads: %zu\n      tid      pid  %8s   samples%s  name\n", profile->thread_count,
           weight_heading(profile), has_off_cpu ? "   waiting  runnable" : "");
    for (size_t i = 0; order && i < profile->thread_count && i < ROWS_MAX; i++) {
        const struct profile_thread *thread = &profile->threads[order[i]];
        const struct info_share *share = &info->threads[order[i]];
        printf(" %8d %8d  %8s  %8s", thread->tid, profile->processes[thread->process].pid,
               weight_format(profile, share->weight).text, format_count(share->samples).text);
        if (has_off_cpu)
            print_off_cpu(profile, (uint32_t)order[i]);
        printf("  %s%s\n", clean(profile_text(profile, thread->name)).text,
               export_namespace_id("tid", thread->namespace_tid).text);
    }
    print_more(profile->thread_count);
    free(order);
}

/* Keeps the modules with code: reasons of waits are none. Returns their number. */
static size_t drop_waits(const struct profile *profile, size_t *order)
{
    size_t kept = 0;
    for (size_t i = 0; order && i < profile->lib_count; i++)
        if (!wait_reason_is_lib(profile, (uint32_t)order[i]))
            order[kept++] = order[i];
    return kept;
}

static void print_libs(const struct info *info)
{
    const struct profile *profile = info->profile;
    size_t *order = order_by_weight(info->libs, profile->lib_count);
    const size_t count = drop_waits(profile, order);
    printf("\nModules: %zu\n  %8s   samples  build-id                                  path\n",
           count, weight_heading(profile));
    for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
        const struct profile_lib *lib = &profile->libs[order[i]];
        const struct info_share *share = &info->libs[order[i]];
        printf("  %8s  %8s  %-40s  %s\n", weight_format(profile, share->weight).text,
               format_count(share->samples).text, info_build_id(lib).text,
               clean(profile_text(profile, lib->path)).text);
    }
    print_more(count);
    free(order);
}

void info_print(const struct info *info, const char *path)
{
    print_file(path);
    print_facts(info);
    print_notes(info->profile);
    print_processes(info);
    print_threads(info);
    print_libs(info);
}

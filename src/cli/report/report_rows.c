/* SPDX-License-Identifier: MIT */
#include "cli/report/report_rows.h"

#include "annotate/tally.h"
#include "base/containers/array.h"
#include "base/text/path_name.h"
#include "export/common.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const nouns[] = {"function", "function", "module", "process", "thread"};

const char *report_rows_noun(enum report_by by)
{
    return nouns[by];
}

bool report_rows_have_self(enum report_by by)
{
    return by != REPORT_PROCESSES && by != REPORT_THREADS;
}

void report_rows_free(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->items[i].module);
        free(rows->items[i].place);
        free(rows->items[i].name);
    }
    free(rows->items);
    *rows = (struct report_rows){0};
}

struct sum { /* a row before its names */
    uint64_t self, total;
    uint32_t index; /* of the function, line, module, … */
};

struct building {
    struct report_rows *rows;
    const struct report *report;
    const struct report_rows_limit *limit;
    struct tally tally; /* of lines */
};

static bool is_shown(const struct building *building, const struct sum *sum)
{
    const struct report_rows_limit *limit = building->limit;
    double least = (double)building->rows->whole * limit->least_percent / 100;
    return building->rows->count < limit->most && sum->total > 0 &&
           (limit->with_callers || (sum->self > 0 && (double)sum->self >= least));
}

static int add(struct building *building, const struct sum *sum, const char *module,
               const char *place, const char *name)
{
    struct report_rows *rows = building->rows;
    struct report_row *row = ARRAY_PUSH(rows->items, rows->count, rows->capacity);
    if (!row)
        return -ENOMEM;
    *row = (struct report_row){.self = sum->self,
                               .total = sum->total,
                               .module = strdup(module),
                               .place = strdup(place),
                               .name = strdup(name)};
    return row->module && row->place && row->name ? 0 : -ENOMEM;
}

static const char *module_name(const struct profile *profile, uint32_t lib)
{
    bool has_module = lib != PROFILE_NONE && !profile->libs[lib].is_synthetic;
    return has_module ? profile_text(profile, profile->libs[lib].name) : "";
}

static int add_function(struct building *building, const struct sum *sum)
{
    const struct profile *profile = building->report->profile;
    return add(building, sum, module_name(profile, profile->funcs[sum->index].lib),
               report_place(profile, sum->index).text, report_name(profile, sum->index));
}

static int add_line(struct building *building, const struct sum *sum)
{
    const struct profile *profile = building->report->profile;
    const struct tally_line *line = &building->tally.lines[sum->index];
    const char *file = line->file == PROFILE_NONE ? "" : profile_text(profile, line->file);
    char place[300] = "";
    if (line->line)
        snprintf(place, sizeof(place), "%.200s:%u", path_name(file), line->line);
    return add(building, sum, module_name(profile, line->lib), place,
               line->line ? report_name(profile, line->func) : "code without lines");
}

static int add_module(struct building *building, const struct sum *sum)
{
    const struct profile *profile = building->report->profile;
    struct buffer path = {0};
    if (sum->index == profile->lib_count)
        return add(building, sum, "", "", "[no module]");
    export_lib_path(profile, &profile->libs[sum->index], &path);
    buffer_u8(&path, 0);
    int err = path.failed ? -ENOMEM : add(building, sum, "", "", (const char *)path.bytes);
    buffer_free(&path);
    return err;
}

static int add_process(struct building *building, const struct sum *sum)
{
    const struct profile *profile = building->report->profile;
    const struct profile_process *process = &profile->processes[sum->index];
    char name[300];
    snprintf(name, sizeof(name), "%.200s, pid %d%s", profile_text(profile, process->name),
             process->pid, export_namespace_id("pid", process->namespace_pid).text);
    return add(building, sum, "", "", name);
}

static int add_thread(struct building *building, const struct sum *sum)
{
    const struct profile *profile = building->report->profile;
    const struct profile_thread *thread = &profile->threads[sum->index];
    const struct profile_process *process = &profile->processes[thread->process];
    char name[600];
    snprintf(name, sizeof(name), "%.200s, tid %d%s, of %.200s, pid %d%s",
             profile_text(profile, thread->name), thread->tid,
             export_namespace_id("tid", thread->namespace_tid).text,
             profile_text(profile, process->name), process->pid,
             export_namespace_id("pid", process->namespace_pid).text);
    return add(building, sum, "", "", name);
}

static int by_self(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static int add_sums(struct building *building, struct sum *sums, size_t count)
{
    static int (*const adds[])(struct building * building, const struct sum *sum) = {
        add_function, add_line, add_module, add_process, add_thread};
    int err = sums ? 0 : -ENOMEM;
    if (sums)
        qsort(sums, count, sizeof(*sums), by_self);
    for (size_t i = 0; i < count && err == 0; i++)
        if (is_shown(building, &sums[i]))
            err = adds[building->rows->by](building, &sums[i]);
    free(sums);
    return err;
}

static int build_functions(struct building *building)
{
    const struct report *report = building->report;
    struct sum *sums = calloc(report->function_count + 1, sizeof(*sums));
    for (size_t i = 0; sums && i < report->function_count; i++)
        sums[i] = (struct sum){report->functions[i].self, report->functions[i].total,
                               report->functions[i].func};
    return add_sums(building, sums, report->function_count);
}

static int build_lines(struct building *building)
{
    const struct profile *profile = building->report->profile;
    struct tally *tally = &building->tally;
    bool *all = malloc(profile->func_count + 1);
    struct sum *sums = NULL;
    if (!all)
        return -ENOMEM;
    memset(all, true, profile->func_count + 1);
    int err = tally_build(tally, &(struct tally_request){.profile = profile, .chosen = all});
    if (err == 0)
        sums = calloc(tally->line_count + 1, sizeof(*sums));
    for (uint32_t i = 0; sums && i < tally->line_count; i++)
        sums[i] = (struct sum){tally->lines[i].self, tally->lines[i].total, i};
    if (err == 0)
        err = add_sums(building, sums, tally->line_count);
    tally_free(tally);
    free(all);
    return err;
}

/* Each lib of a stack once: seen[lib] is the last stack with the lib, plus one. */
static void sum_modules(const struct profile *profile, const uint64_t *weights, uint32_t *seen,
                        struct sum *sums)
{
    for (uint32_t i = 0; i < profile->stack_count; i++) {
        for (uint32_t at = i; weights[i] && at != PROFILE_NONE; at = profile->stacks[at].parent) {
            uint32_t lib = profile->frames[profile->stacks[at].frame].lib;
            lib = lib == PROFILE_NONE ? (uint32_t)profile->lib_count : lib;
            sums[lib].self += at == i ? weights[i] : 0;
            sums[lib].total += seen[lib] != i + 1 ? weights[i] : 0;
            seen[lib] = i + 1;
        }
    }
}

static int build_modules(struct building *building)
{
    const struct profile *profile = building->report->profile;
    size_t count = profile->lib_count + 1; /* the last: code outside of all modules */
    uint64_t *weights = calloc(profile->stack_count + 1, sizeof(*weights));
    uint32_t *seen = calloc(count, sizeof(*seen));
    struct sum *sums = calloc(count, sizeof(*sums));
    bool is_whole = weights && seen && sums;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; is_whole && (sample = profile_walk_next(&walk));)
        if (profile_is_main(profile, sample) && sample->stack != PROFILE_NONE)
            weights[sample->stack] += sample->weight;
    for (size_t i = 0; is_whole && i < count; i++)
        sums[i].index = (uint32_t)i;
    if (is_whole)
        sum_modules(profile, weights, seen, sums);
    free(weights);
    free(seen);
    if (!is_whole) {
        free(sums);
        return -ENOMEM;
    }
    return add_sums(building, sums, count);
}

static int build_tasks(struct building *building)
{
    const struct profile *profile = building->report->profile;
    bool is_by_thread = building->rows->by == REPORT_THREADS;
    size_t count = is_by_thread ? profile->thread_count : profile->process_count;
    struct sum *sums = calloc(count + 1, sizeof(*sums));
    for (size_t i = 0; sums && i < count; i++)
        sums[i].index = (uint32_t)i;
    for (uint32_t i = 0; sums && i < profile->thread_count; i++) {
        const struct profile_list *list = profile_list_of(profile, i, profile->main_event);
        struct sum *sum = &sums[is_by_thread ? i : profile->threads[i].process];
        sum->self += list ? list->samples.weight : 0;
        sum->total = sum->self;
    }
    return add_sums(building, sums, count);
}

int report_rows_build(struct report_rows *rows, const struct report *report, enum report_by by,
                      const struct report_rows_limit *limit)
{
    static int (*const builds[])(struct building * building) = {
        build_functions, build_lines, build_modules, build_tasks, build_tasks};
    *rows = (struct report_rows){.by = by, .whole = report->total};
    struct building building = {.rows = rows, .report = report, .limit = limit};
    int err = builds[by](&building);
    if (err)
        report_rows_free(rows);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "cli/diff/comparable.h"

#include "base/text/log.h"
#include "cli/terminal/weight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_user_only(const char *event)
{
    size_t length = strlen(event);
    return length >= 2 && strcmp(event + length - 2, ":u") == 0;
}

/* CPU time is the same by each clock, but not with and without the kernel's part. */
static bool is_same_event(const struct comparable *first, const char *event, bool is_cpu_time)
{
    if (first->is_cpu_time && is_cpu_time)
        return is_user_only(first->event) == is_user_only(event);
    return strcmp(first->event, event) == 0;
}

static void set_first(struct comparable *first, const struct profile *profile, const char *path)
{
    struct profile_event event = profile_main_event(profile);
    snprintf(first->path, sizeof(first->path), "%s", path);
    snprintf(first->event, sizeof(first->event), "%s", profile_text(profile, event.name));
    snprintf(first->cpu, sizeof(first->cpu), "%s", profile_text(profile, profile->cpu));
    first->is_cpu_time = profile_is_cpu_time(&event);
    first->time = weight_time_name(profile);
    first->period = event.period;
    first->is_set = true;
}

int comparable_check(struct comparable *first, const struct profile *profile, const char *path,
                     bool by_share, struct error *error)
{
    struct profile_event event = profile_main_event(profile);
    const char *name = profile_text(profile, event.name),
               *cpu = profile_text(profile, profile->cpu);
    if (profile_total(profile) == 0)
        return error_set(error, -EINVAL, "%s has no samples: nothing to compare", path);
    if (!first->is_set)
        set_first(first, profile, path);
    if (!is_same_event(first, name, profile_is_cpu_time(&event)))
        return error_set(error, -EINVAL,
                         "%s counts %s, %s counts %s: record both with the same event, or select "
                         "one with --event",
                         first->path, first->event, path, name);
    if (!by_share && cpu[0] && first->cpu[0] && strncmp(cpu, first->cpu, sizeof(first->cpu) - 1))
        return error_set(error, -EINVAL,
                         "%s is from another machine (%s) than %s (%s): CPU times are not "
                         "comparable; compare shares with --by share",
                         path, cpu, first->path, first->cpu);
    if (event.period != first->period && !first->has_other_period) {
        log_info("%s has another sampling period than %s: short functions may differ by a period",
                 path, first->path);
        first->has_other_period = true;
    }
    return 0;
}

int comparable_check_common(const struct comparison *comparison, struct error *error)
{
    bool has_function[COMPARE_SIDES] = {false};
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        if (comparison_text(comparison, row->module)[0] == '\0')
            continue;
        if (row->mean[COMPARE_BASE] > 0 && row->mean[COMPARE_NEW] > 0)
            return 0;
        has_function[COMPARE_BASE] |= row->mean[COMPARE_BASE] > 0;
        has_function[COMPARE_NEW] |= row->mean[COMPARE_NEW] > 0;
    }
    if (!has_function[COMPARE_BASE] || !has_function[COMPARE_NEW])
        return 0;
    return error_set(error, -EINVAL,
                     "the sides have no function in common: compare captures of the same program, "
                     "with its symbols");
}

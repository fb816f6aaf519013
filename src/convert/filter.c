/* SPDX-License-Identifier: MIT */
#include "convert/filter.h"

#include "base/containers/array.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MILLIONTHS_A_PERCENT = 10000 };

void filter_free(struct filter *filter)
{
    free(filter->pids.ranges);
    free(filter->tids.ranges);
    free(filter->cpus.ranges);
    *filter = (struct filter){0};
}

bool filter_is_empty(const struct filter *filter)
{
    return !filter->pids.count && !filter->tids.count && !filter->cpus.count && !filter->comms &&
           !filter->event && !filter->has_time;
}

/* Parses an integer at *text, and moves *text behind it. */
static bool read_number(const char **text, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool read_range(const char **text, struct filter_range *range)
{
    if (!read_number(text, &range->first))
        return false;
    range->last = range->first;
    if (**text != '-')
        return true;
    (*text)++;
    return read_number(text, &range->last) && range->last >= range->first;
}

int filter_parse_list(struct filter_list *list, const char *text, const char *what,
                      struct error *error)
{
    const char *at = text;
    for (;;) {
        struct filter_range range;
        if (!read_range(&at, &range) || (*at && *at != ','))
            return error_set(error, -EINVAL, "%s takes numbers as in 7 or 0,2-5, not '%s'", what,
                             text);
        struct filter_range *added = ARRAY_PUSH(list->ranges, list->count, list->capacity);
        if (!added)
            return error_set(error, -ENOMEM, "out of memory");
        *added = range;
        if (!*at++)
            return 0;
    }
}

/* Seconds with up to nine decimals; an empty text leaves *ns unchanged. */
static bool read_seconds(const char **text, uint64_t *ns)
{
    uint64_t seconds, unit = 1000000000;
    if (**text == '\0' || **text == ',')
        return true;
    if (!read_number(text, &seconds) || __builtin_mul_overflow(seconds, unit, ns))
        return false;
    if (**text != '.')
        return true;
    for ((*text)++; isdigit((unsigned char)**text); (*text)++) {
        unit /= 10;
        if (__builtin_add_overflow(*ns, unit * (uint64_t)(**text - '0'), ns))
            return false;
    }
    return true;
}

static bool read_percent(const char **text, uint64_t *millionths)
{
    char *end;
    double percent = strtod(*text, &end);
    if (end == *text || *end != '%' || !(percent >= 0 && percent <= 100))
        return false;
    *millionths = (uint64_t)(percent * MILLIONTHS_A_PERCENT + 0.5);
    *text = end + 1;
    return true;
}

int filter_parse_time(struct filter *filter, const char *text, struct error *error)
{
    const char *at = text;
    filter->has_time = true;
    filter->start = 0;
    filter->end = UINT64_MAX;
    filter->is_percent = strchr(text, '%') != NULL;
    bool is_valid =
        filter->is_percent
            ? read_percent(&at, &filter->start) && *at++ == '-' && read_percent(&at, &filter->end)
            : read_seconds(&at, &filter->start) && *at++ == ',' && read_seconds(&at, &filter->end);
    if (is_valid && *at == '\0' && filter->end >= filter->start)
        return 0;
    return error_set(error, -EINVAL,
                     "--time takes START,END in seconds of the file's clock or START%%-END%%, not "
                     "'%s'",
                     text);
}

static bool list_has(const struct filter_list *list, uint64_t number)
{
    for (size_t i = 0; i < list->count; i++)
        if (number >= list->ranges[i].first && number <= list->ranges[i].last)
            return true;
    return list->count == 0;
}

bool filter_accepts_event(const struct filter *filter, const char *name)
{
    if (!filter->event || strcmp(filter->event, name) == 0)
        return true;
    size_t length = strlen(filter->event);
    /* The modifiers of perf-list(1). */
    return strncmp(filter->event, name, length) == 0 && name[length] == ':' &&
           name[length + 1 + strspn(name + length + 1, "ukhHGpPSDIWeb")] == '\0';
}

bool filter_accepts_task(const struct filter *filter, uint32_t pid, uint32_t tid)
{
    return list_has(&filter->pids, pid) && list_has(&filter->tids, tid);
}

bool filter_accepts_time(const struct filter *filter, uint64_t time_ns)
{
    return !filter->has_time || (time_ns >= filter->start && time_ns <= filter->end);
}

bool filter_accepts_sample(const struct filter *filter, const struct perfdata_event *event)
{
    return filter_accepts_task(filter, event->pid, event->tid) &&
           filter_accepts_time(filter, event->time_ns) && list_has(&filter->cpus, event->cpu);
}

/* Compares with each name of the list, without a copy of the list. */
bool filter_accepts_comm(const struct filter *filter, const char *name)
{
    size_t length = filter->comms ? strlen(name) : 0;
    for (const char *at = filter->comms; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == ','))
            return true;
    }
    return !filter->comms;
}

static int no_such_event(const struct filter *filter, struct perfdata_reader *reader,
                         const char *path, struct error *error)
{
    char names[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < perfdata_attr_count(reader) && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 perfdata_attr(reader, i)->name);
    return error_set(error, -EINVAL, "%s has no event %s; recorded events: %s", path, filter->event,
                     names);
}

/* From the first sample to the last, by the header or else by looking. */
static int find_span(struct perfdata_reader *reader, uint64_t *first_ns, uint64_t *last_ns)
{
    const struct perfdata_facts *facts = perfdata_facts(reader);
    *first_ns = facts->first_sample_ns;
    *last_ns = facts->last_sample_ns;
    if (*last_ns)
        return 0;
    struct perfdata_event event;
    int more;
    *first_ns = UINT64_MAX;
    while ((more = perfdata_next(reader, &event)) > 0) {
        if (event.kind != PERFDATA_SAMPLE || event.time_ns == 0)
            continue;
        *first_ns = event.time_ns < *first_ns ? event.time_ns : *first_ns;
        *last_ns = event.time_ns > *last_ns ? event.time_ns : *last_ns;
    }
    if (*last_ns == 0)
        *first_ns = 0;
    return more < 0 ? more : perfdata_rewind(reader);
}

int filter_parse_metric(struct filter *filter, const char *text, struct error *error)
{
    for (enum profile_metric metric = PROFILE_CPU; metric < PROFILE_METRICS; metric++) {
        if (strcmp(profile_metric_name(metric), text) != 0)
            continue;
        filter->metric = metric;
        return 0;
    }
    return error_set(error, -EINVAL, "--metric needs cpu, off-cpu or wall, not '%s'", text);
}

/* An end at 100 % is no limit: a double has fewer digits than a time in ns. */
static int settle_time(struct filter *filter, struct perfdata_reader *reader)
{
    uint64_t first_ns, last_ns;
    int err = find_span(reader, &first_ns, &last_ns);
    double span_ns = last_ns > first_ns ? (double)(last_ns - first_ns) : 0;
    filter->start = first_ns + (uint64_t)(span_ns * (double)filter->start / 1e6);
    filter->end = filter->end >= 1000000
                      ? UINT64_MAX
                      : first_ns + (uint64_t)(span_ns * (double)filter->end / 1e6);
    filter->is_percent = false;
    return err;
}

int filter_prepare(struct filter *filter, struct perfdata_reader *reader, const char *path,
                   struct error *error)
{
    bool has_event = !filter->event || strcmp(filter->event, "off-cpu") == 0, has_cpus = true;
    if (filter->event && filter->metric)
        return error_set(error, -EINVAL, "--metric and --event: choose one");
    for (size_t i = 0; i < perfdata_attr_count(reader); i++) {
        const struct perfdata_attr *attr = perfdata_attr(reader, i);
        bool is_wanted = filter_accepts_event(filter, attr->name ? attr->name : "");
        bool is_dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
        has_event |= is_wanted;
        has_cpus &= !is_wanted || is_dummy || attr->sample_type & PERF_SAMPLE_CPU;
    }
    if (!has_event)
        return no_such_event(filter, reader, path, error);
    if (filter->cpus.count && !has_cpus)
        return error_set(error, -EINVAL,
                         "%s: samples have no CPU number; record with `perf record --sample-cpu`",
                         path);
    int err = filter->has_time && filter->is_percent ? settle_time(filter, reader) : 0;
    return err ? error_set(error, err, "cannot read %s: %s", path, strerror(-err)) : 0;
}

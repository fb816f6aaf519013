/* SPDX-License-Identifier: MIT */
/*
 * The selection of a file's samples. Samples outside are not loaded; tasks and mappings are, for
 * the samples inside.
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/reader.h"
#include "profile/metric.h"

struct filter_range {
    uint64_t first, last; /* both inside */
};

struct filter_list {
    struct filter_range *ranges; /* owned */
    size_t count, capacity;      /* 0: all */
};

struct filter { /* all zero: everything */
    struct filter_list pids, tids, cpus;
    const char *comms;          /* names of threads, with commas between; NULL: all. Borrowed */
    const char *event;          /* NULL: all. Borrowed */
    enum profile_metric metric; /* no selection: the main event of the result */
    bool has_time;
    bool is_percent;     /* of the time from the first sample to the last: … */
    uint64_t start, end; /* … in millionths of the duration; else ns of the file's own clock */
};

void filter_free(struct filter *filter);

/* Whether all samples pass. */
bool filter_is_empty(const struct filter *filter);

/* "7", "0,2-5". -EINVAL and a message with the name `what`. */
int filter_parse_list(struct filter_list *list, const char *text, const char *what,
                      struct error *error);
/* "START,END" in seconds of the file's clock, either may be missing; "10%-20%". As above. */
int filter_parse_time(struct filter *filter, const char *text, struct error *error);

/* "cpu", "off-cpu", "wall". As above. */
int filter_parse_metric(struct filter *filter, const char *text, struct error *error);

/* Checks the filter against the file, and computes the limits in ns. -EINVAL and a message: no
 * such event, or no CPU recorded. */
int filter_prepare(struct filter *filter, struct perfdata_reader *reader, const char *path,
                   struct error *error);

/* Of a file's event; modifiers ("cycles:u") may be left out. */
bool filter_accepts_event(const struct filter *filter, const char *name);
/* By all but the thread's name and the event. */
bool filter_accepts_sample(const struct filter *filter, const struct perfdata_event *event);
bool filter_accepts_comm(const struct filter *filter, const char *name);
bool filter_accepts_time(const struct filter *filter, uint64_t time_ns);
bool filter_accepts_task(const struct filter *filter, uint32_t pid, uint32_t tid);

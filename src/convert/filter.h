/* SPDX-License-Identifier: MIT */
/*
 * Which samples of a file are wanted. Samples outside are not loaded; tasks and mappings are, as what is
 * inside needs them.
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct filter_range {
    uint64_t first, last; /* both inside */
};

struct filter_list {
    struct filter_range *ranges; /* owned */
    size_t count, capacity;      /* 0: all */
};

struct filter { /* all zero: everything */
    struct filter_list pids, tids, cpus;
    const char *comms; /* names of threads, with commas between; NULL: all. Borrowed */
    const char *event; /* NULL: all. Borrowed */
    bool has_time;
    bool is_percent;     /* of the time from the first sample to the last: … */
    uint64_t start, end; /* … in millionths of it; else ns of the file's own clock */
};

void filter_free(struct filter *filter);

/* Whether it lets all samples through. */
bool filter_is_empty(const struct filter *filter);

/* "7", "0,2-5". -EINVAL and a sentence that names `what`. */
int filter_parse_list(struct filter_list *list, const char *text, const char *what,
                      struct error *error);
/* "START,END" in seconds of the file's clock, either may be missing; "10%-20%". As above. */
int filter_parse_time(struct filter *filter, const char *text, struct error *error);

/* Whether the file can be cut so, and from which ns to which. -EINVAL and a sentence: there is no such
 * event, or no CPU was recorded. */
int filter_prepare(struct filter *filter, struct perfdata_reader *reader, const char *path,
                   struct error *error);

/* Of a file's event; modifiers ("cycles:u") may be left out. */
bool filter_accepts_event(const struct filter *filter, const char *name);
/* By all but the thread's name and the event. */
bool filter_accepts_sample(const struct filter *filter, const struct perfdata_event *event);
bool filter_accepts_comm(const struct filter *filter, const char *name);
bool filter_accepts_time(const struct filter *filter, uint64_t time_ns);
bool filter_accepts_task(const struct filter *filter, uint32_t pid, uint32_t tid);

/* SPDX-License-Identifier: MIT */
/*
 * Which samples of a file are wanted. Samples outside are not loaded; tasks and mappings are, as what is
 * inside needs them.
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct cut_range {
    uint64_t first, last; /* both inside */
};

struct cut_list {
    struct cut_range *ranges; /* owned */
    size_t count, capacity;   /* 0: all */
};

struct cut { /* all zero: everything */
    struct cut_list pids, tids, cpus;
    const char *comms; /* names of threads, with commas between; NULL: all. Borrowed */
    const char *event; /* NULL: all. Borrowed */
    bool has_time;
    bool is_percent;     /* of the time from the first sample to the last: … */
    uint64_t start, end; /* … in millionths of it; else ns of the file's own clock */
};

void cut_free(struct cut *cut);

/* Whether it lets all samples through. */
bool cut_is_whole(const struct cut *cut);

/* "7", "0,2-5". -EINVAL and a sentence that names `what`. */
int cut_parse_list(struct cut_list *list, const char *text, const char *what, struct error *error);
/* "START,END" in seconds of the file's clock, either may be missing; "10%-20%". As above. */
int cut_parse_time(struct cut *cut, const char *text, struct error *error);

/* Whether the file can be cut so, and from which ns to which. -EINVAL and a sentence: there is no such
 * event, or no CPU was recorded. */
int cut_settle(struct cut *cut, struct perfdata_reader *reader, const char *path,
               struct error *error);

/* Of a file's event; modifiers ("cycles:u") may be left out. */
bool cut_has_event(const struct cut *cut, const char *name);
/* By all but the thread's name and the event. */
bool cut_has_sample(const struct cut *cut, const struct perfdata_event *event);
bool cut_has_comm(const struct cut *cut, const char *name);
bool cut_has_time(const struct cut *cut, uint64_t time_ns);
bool cut_has_task(const struct cut *cut, uint32_t pid, uint32_t tid);

/* SPDX-License-Identifier: MIT */
/* Private to merge.c: one profile on its way into the sum, and the ids of its elements
 * there. */
#pragma once

#include "profile/profile.h"

struct profile_merge {
    struct profile *sum; /* owned until profile_merge_finish() */
    size_t profile_count;
    struct intern *addresses; /* keys: an address with its frames */
    struct intern *pids;
    uint32_t *pid_counts; /* processes by id in pids */
    size_t pid_count, pid_capacity;
};

struct merge_step {
    struct profile_merge *merge;
    const struct profile *from;
    uint32_t divisor;
    uint64_t shift_ns; /* from times of `from` to times of the sum */
    /* Ids in the sum, by the index in `from`. */
    uint32_t *strings, *libs, *funcs, *symbols, *addresses, *calls, *events;
    uint32_t first_process, first_thread;
};

/* 0 or -ENOMEM. Close in both cases. */
int merge_step_open(struct merge_step *step);
void merge_step_close(struct merge_step *step);

/* PROFILE_NONE stays PROFILE_NONE. */
uint32_t merge_string(const struct merge_step *step, uint32_t string);
uint32_t merge_lib(const struct merge_step *step, uint32_t lib);

/* Strings, libs, functions and symbols; processes and threads; events. 0 or -ENOMEM. */
int merge_names(struct merge_step *step);
int merge_tasks(struct merge_step *step);
int merge_events(struct merge_step *step);

/* Adds the counters of equal notes up; texts stay side by side. */
void merge_notes(struct merge_step *step);

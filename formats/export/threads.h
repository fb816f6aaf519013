/* SPDX-License-Identifier: MIT */
/*
 * The threads of an output with a time line, for an event: threads with samples, and the main
 * thread of their process (viewers put a process's threads below the main thread). A recording
 * without samples of the event shows all main threads. Order: the first process of the recording,
 * then the other processes by creation; in each the main thread, then the other threads by
 * creation. Two runs of a program have the same order.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct thread_view {
    uint32_t thread;     /* index in the profile */
    bool is_main;        /* a single thread per process, even if the real main thread was not
                          * recorded */
    size_t sample_count; /* of the event */
};

struct thread_list {
    struct thread_view *views;
    size_t count;
    size_t sample_count;
};

/* 0 or -ENOMEM. */
int thread_list_collect(struct thread_list *list, const struct profile *profile, uint32_t event);
void thread_list_free(struct thread_list *list);

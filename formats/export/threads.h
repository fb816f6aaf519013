/* SPDX-License-Identifier: MIT */
/*
 * The threads that an output with a time line shows for one event: those with samples, and the main
 * thread of each process that has one of these (viewers hang a process's threads below it). A
 * recording without any sample of the event shows all its main threads. Order: the first process of
 * the recording, then the other processes as they were created; in each the main thread, then the
 * other threads as they were created. Two runs of a program have the same order.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct thread_view {
    uint32_t thread;     /* index in the profile */
    bool is_main;        /* exactly one in a process, also where the real one was never seen */
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

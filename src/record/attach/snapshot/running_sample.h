/* SPDX-License-Identifier: MIT */
/*
 * The stack of a running thread by a single sample: the kernel disables the perf event on the
 * thread after the first record. The thread is neither stopped nor signalled.
 */
#pragma once

#include "record/perf_ring/rings/ring_record.h"

#include <stdbool.h>
#include <sys/types.h>

struct running_sample {
    int fd; /* -1: closed */
    struct perf_event_mmap_page *page;
};

/* 0 or the kernel's negative errno. */
int running_sample_open(struct running_sample *sample, pid_t tid);
void running_sample_close(struct running_sample *sample);

/* True: the sample is there, valid until the close. False: the thread has not run in user mode yet.
 */
bool running_sample_take(const struct running_sample *sample, struct ring_record *record);

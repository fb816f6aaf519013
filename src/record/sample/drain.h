/* SPDX-License-Identifier: MIT */
/* Empties the rings: records become samples, names and counters. */
#pragma once

#include "record/kernel_time/kernel_samples.h"
#include "record/sample/pending_stacks.h"
#include "record/tables/thread_table.h"

#include <stdbool.h>
#include <stdint.h>

struct drain {
    struct process_table *processes;
    struct thread_table *threads;
    struct pending_stacks *pending;
    struct sample_writer *samples;
    const struct round *round;
    struct compiler *compiler;
    struct kernel_samples *kernel;
    uint8_t *scratch;       /* SESSION_RING_BYTES: a record, copied out of shared memory */
    uint64_t fullest_bytes; /* content of the fullest ring since drain_begin_round() */
    uint64_t round_bytes;   /* of the records read since then by drain_all() */
    uint64_t part_bytes;    /* limit of each process in the present drain_all() */
    bool has_left;          /* records before the latest drain_all() wait for the next round */
    bool is_last;           /* the recording ends: no limit */
    size_t first_thread;    /* the next drain_all() begins with this thread */
    uint64_t handler_ticks[HANDLER_BUCKETS]; /* histogram of the handlers' own time */
    uint64_t handler_max_ticks;
};

/* 0 or -ENOMEM. The pointers are set by the caller. */
int drain_open(struct drain *drain);
void drain_close(struct drain *drain);

void drain_begin_round(struct drain *drain);
/* A round reads a bounded number of bytes, in equal parts for the processes with records. */
void drain_all(struct drain *drain);
/* All threads of a process, including new threads. */
void drain_process(struct drain *drain, struct process *process);

/* The percentile of the handler time. */
uint64_t drain_handler_percentile_ns(const struct drain *drain, unsigned per_cent);
uint64_t drain_handler_max_ns(const struct drain *drain);

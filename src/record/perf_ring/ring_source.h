/* SPDX-License-Identifier: MIT */
/*
 * The perf-ring engine: records processes from outside. Nothing is injected, stopped or signalled.
 *
 *     thread_events ─▶ ring_set ─▶ ring_copier ─┬▶ ring_tasks   FORK, COMM, EXIT
 *                      of the kernel   a thread ├▶ ring_maps    MMAP2
 *                                               └▶ ring_unwind ─▶ sample_writer
 *
 * Records of all rings are taken in the order of time.
 */
#pragma once

#include "record/perf_ring/ring_tasks.h"
#include "record/perf_ring/rings/ring_copier.h"
#include "record/perf_ring/rings/ring_set.h"
#include "record/perf_ring/walk/ring_unwind.h"

#include "record/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The largest copy of a stack: the size of a record is a u16. */
#define RING_STACK_BYTES_MAX ((64 << 10) - 8)

struct ring_source_config {
    struct perfdata_writer *file;
    struct record_summary *summary;
    const struct round *round;
    struct open_file_cache *open_files;
    uint64_t period_ns;
    enum event_reach reach;
    const struct record_options *options; /* of the kernel's part; borrowed */
    const char *processors;               /* "0-3,6"; NULL: all */
    bool has_kernel_image;                /* the file has the kernel's mapping already */
    bool shares_files;                    /* a process gets a share of the descriptors */
};

struct ring_source {
    struct ring_set rings;
    struct ring_copier copier;
    bool has_left; /* copied records, after the time limit of a round */
    struct thread_events events;
    bool shares_files;         /* as in the configuration */
    uint64_t started_ns;       /* of the latest process with events of its own */
    bool can_grow;             /* clocks: see ring_growth.h */
    bool has_new_cuts;         /* of events that can be replaced */
    uint32_t stack_bytes_max;  /* of any event */
    struct event_set *system;  /* of REACH_SYSTEM; else NULL */
    int cgroup_fd;             /* of `system`; owned; -1: none */
    struct tid_set grown_tids; /* the threads with larger copies, while events are replaced */
    const struct record_options *options;
    struct ring_modules modules;
    struct ring_maps maps;
    struct ring_tasks tasks;
    struct ring_unwinder unwinder;
    struct frame_list written_frames;
    struct sample_writer samples;
    const struct round *round;
};

/* 0 or a negative errno; ring_source_close() in any case. */
int ring_source_open(struct ring_source *source, const struct ring_source_config *config);
void ring_source_close(struct ring_source *source);

/* A thread of the system with a record of another source at this time: writes its start and the
 * start of its process, unless the file has them. context: the ring source. */
void ring_source_meet(void *context, pid_t pid, pid_t tid, uint64_t time_ns);

/* The time in which busy processors fill their rings; 0: records wait for their work. */
uint64_t ring_source_fill_ns(const struct ring_source *source);

/* Takes the records up to this time from the rings, and works on them for 20 ms at most. Others are
 * left for the next call. */
void ring_source_drain(struct ring_source *source, uint64_t until_ns);
/* Works on all records that are in the rings now. */
void ring_source_catch_up(struct ring_source *source);

/* Whether the process is recorded, as a descendant of a recorded process, too. */
bool ring_source_has(struct ring_source *source, pid_t pid);

/* The delay before sampling is over: as ring_ends_restart(), and losses until now do not count. */
uint64_t ring_source_restart(struct ring_source *source);

/* Closes the events, takes the last records, closes the accounts of living processes. */
void ring_source_stop(struct ring_source *source);

/* SPDX-License-Identifier: MIT */
/*
 * The perf-ring engine: records processes from outside. Nothing is injected, stopped or signalled.
 *
 *     thread_events ─▶ kernel_ring ─▶ ring_record ─┬▶ ring_tasks   FORK, COMM, EXIT
 *                      one a processor             ├▶ ring_maps    MMAP2
 *                                                  └▶ ring_unwind ─▶ sample_writer
 *
 * Records of all rings are taken in the order of time.
 */
#pragma once

#include "record/perf_ring/ring_backlog.h"
#include "record/perf_ring/ring_tasks.h"
#include "record/perf_ring/ring_unwind.h"

#include "record/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
};

struct ring_source {
    struct kernel_ring *rings;
    size_t ring_count;
    struct ring_backlog backlog;
    struct thread_events events;
    uint32_t stack_bytes_max; /* of any event */
    struct event_set *system; /* of REACH_SYSTEM; else NULL */
    bool can_grow;            /* the copied stacks of the system */
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

/* Records all threads of a running process, or only `tids`. 0, or a negative errno: the kernel's
 * for the first refused thread, -EMFILE when descriptors run out. -ESRCH: no thread is left. */
int ring_source_attach(struct ring_source *source, pid_t pid, const pid_t *tids, size_t tid_count);

/* Records all tasks (REACH_SYSTEM), or the tasks of a cgroup; cgroup_fd -1: none. 0 or the kernel's
 * negative errno. */
int ring_source_record_system(struct ring_source *source, int cgroup_fd);

/* A thread of the system with a record of another source at this time: writes its start and the
 * start of its process, unless the file has them. context: the ring source. */
void ring_source_meet(void *context, pid_t pid, pid_t tid, uint64_t time_ns);

/* Records a process that waits before its exec, from the exec on; is_in_file: as for
 * ring_tasks_attach(). 0, or the kernel's negative errno: then nothing is recorded of the
 * process. */
int ring_source_await_exec(struct ring_source *source, pid_t pid, bool is_in_file);
/* The exec failed, or did not come. */
void ring_source_forget(struct ring_source *source, pid_t pid);

/* As ring_source_attach(), for all threads of a process of the recording; is_in_file: as for
 * ring_tasks_attach(). An error leaves no trace of the process. */
int ring_source_adopt(struct ring_source *source, pid_t pid, bool is_in_file);

/* The same for a process with its threads in the file, on stacks made by the program: with the
 * largest copies of the stack. *cpu_ns: the CPU time of the process at the start. */
int ring_source_take_over(struct ring_source *source, pid_t pid, uint64_t *cpu_ns);

/* The time in which busy processors fill their rings; 0: records wait for their work. */
uint64_t ring_source_fill_ns(const struct ring_source *source);

/* Takes the records up to this time from the rings, and works on them for 20 ms at most. Others are
 * left for the next call. */
void ring_source_drain(struct ring_source *source, uint64_t until_ns);
/* Works on all records that are in the rings now. */
void ring_source_catch_up(struct ring_source *source);

/* Whether the process is recorded, as a descendant of a recorded process, too. */
bool ring_source_has(struct ring_source *source, pid_t pid);

/* Closes the events, takes the last records, closes the accounts of living processes. */
void ring_source_stop(struct ring_source *source);

/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time: where threads wait, how long, and for what. No thread is stopped, signalled or
 * woken.
 *
 *     kernel rings, SWITCH records ─▶ thread_run    exact intervals: on, blocked, preempted
 *     ticks ─▶ off_looks                            stack and reason, once for each wait
 *     end of a wait, end of a window ─▶ wait_cut, short_waits ─▶ off_queue ─▶ off_writer ─▶ file
 *     └────────────── off-CPU thread ──────────────────────────┘   └── writer's thread ──┘
 *
 * The length of each wait is exact, stacks are sampled. A wait with two ticks or more has its exact
 * length and a sample for each tick; the rest of the thread's exact sum belongs to the shorter
 * waits, in equal parts for each of them that a tick has met. So CPU time + waiting + runnable is
 * the lifetime of the thread.
 */
#pragma once

#include "record/off_cpu/off_looks.h"
#include "record/off_cpu/file/off_writer.h"
#include "record/perf_ring/thread_events.h"
#include "record/summary.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct off_recorder_config {
    uint64_t interval_ns;
    enum event_reach reach;
    const char *processors; /* of REACH_SYSTEM: "0-3,6"; NULL: all */
    struct open_file_cache *open_files;
    struct perfdata_writer *file;
    int accounts_fd;         /* of struct requests; negative: no thread notes its account */
    bool is_quiet;           /* counts from off_recorder_begin() on */
    bool with_kernel_stacks; /* of waits; where permitted */
    bool has_kernel_image;   /* the file has the mapping of the kernel */
    /* Writes the start of a thread into the file, if the file has none; NULL: the file has all. */
    void (*meet)(void *context, pid_t pid, pid_t tid, uint64_t time_ns);
    void *meet_context;
};

struct off_recorder;

/* Before any record of a task is written into the file. 0, or a negative errno and NULL. */
int off_recorder_open(struct off_recorder **out, const struct off_recorder_config *config);

/* A process that waits before its exec. Where the kernel refuses the events, schedstat takes their
 * place. 0, or a negative errno. */
int off_recorder_await_exec(struct off_recorder *recorder, pid_t pid);

/* All threads of a running process, or tids. 0, or the kernel's negative errno. */
int off_recorder_attach(struct off_recorder *recorder, pid_t pid, const pid_t *tids,
                        size_t tid_count);

/* All threads of the system, or of a cgroup: its path below the mount point, and its descriptor;
 * NULL, -1: none. With processors: waits that begin on these. 0, or a negative errno. */
int off_recorder_record_system(struct off_recorder *recorder, const char *cgroup, int cgroup_fd);

/* The command runs. Without perf events its threads are found from now on. From any thread. */
void off_recorder_set_root(struct off_recorder *recorder, pid_t pid);

/* Starts the thread. 0 or a negative errno. */
int off_recorder_start(struct off_recorder *recorder);

/* The delay before sampling is over. From any thread. */
void off_recorder_begin(struct off_recorder *recorder, uint64_t now_ns);

/* Writes what the thread has found. From the writer's thread. */
void off_recorder_write(struct off_recorder *recorder, uint64_t now_ns);

/* The end of the process by the records written so far, if not before since_ns; 0: unknown. */
uint64_t off_recorder_end_ns(const struct off_recorder *recorder, pid_t pid, uint64_t since_ns);

/* The longest time between two calls of off_recorder_write(); and the age of the oldest sample
 * that a call writes. */
#define OFF_RECORDER_WRITE_NS UINT64_C(500000000)
uint64_t off_recorder_age_ns(const struct off_recorder *recorder);

/* Ends the thread, and writes the rest. */
void off_recorder_stop(struct off_recorder *recorder, struct record_summary *total);
void off_recorder_free(struct off_recorder *recorder);

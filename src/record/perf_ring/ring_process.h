/* SPDX-License-Identifier: MIT */
/*
 * The living processes recorded through kernel rings, by pid. These processes have no sampler and
 * no place in shared memory.
 *
 *     target, FORK or first sample ─▶ ring_process_add() ─▶ last thread ended ─▶ ring_process_end()
 */
#pragma once

#include "record/perf_ring/thread_events.h"
#include "record/perf_ring/walk/callchain_tail.h"
#include "record/process/process_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_process {
    struct ring_process *next_in_bucket;
    struct process process;  /* identity, account and map, as sample_writer.h needs them */
    uint64_t map_generation; /* changes with the map, unique in the recording */
    bool has_map;            /* the mappings were read from /proc, or copied at a FORK */
    uint64_t maps_due_ns;    /* no further read of the mappings before */
    uint64_t maps_pause_ns;
    uint64_t files_due_ns; /* files that were put off are read again; 0: none */
    uint32_t live_threads;
    bool is_stack_known;           /* of this program: */
    uint64_t stack_start_avma;     /* of the main thread; 0: no right to read the address */
    struct event_set *events;      /* NULL: FORK was lost */
    struct root_frames roots[2];   /* of threads, of the main thread; of this program */
    bool awaits_exec;              /* a command before its exec */
    bool has_fibers;               /* runs on stacks made by the program: see outside.h */
    const struct process *sampled; /* whose threads are in the file; NULL after the start */
    bool is_in_file;               /* the file has a FORK of this pid, */
    bool is_started;               /* and the name of this program */
    bool is_orphan;                /* its parent ended first, without a wait */
    bool is_dead;                  /* at the latest look, where the system is recorded */
    pid_t *tids;                   /* where single threads are recorded: the threads; owned */
    size_t tid_count, tid_capacity;
    uint64_t start_kernel_ns, kernel_ns; /* system time: at the start, at the last look */
};

#define RING_PROCESS_BUCKETS 1024u

struct ring_processes {
    struct ring_process *buckets[RING_PROCESS_BUCKETS]; /* by pid */
    size_t count;
};

/* Files that could not be read now are read again after a pause: see ring_maps_read_files(). */
void ring_process_put_off_files(struct ring_process *process, uint64_t now_ns);

/* NULL: no such process. */
struct ring_process *ring_process_find(const struct ring_processes *processes, pid_t pid);

/* NULL: out of memory. */
struct ring_process *ring_process_add(struct ring_processes *processes, pid_t pid);

/* Frees the process with its map. */
void ring_process_end(struct ring_processes *processes, struct ring_process *process);
void ring_processes_free(struct ring_processes *processes);

/* The process after this one, or the first for NULL; NULL: there are no more. The next process must
 * be fetched before this one is freed. */
struct ring_process *ring_process_next(const struct ring_processes *processes,
                                       const struct ring_process *process);

/* Whether the pid still belongs to the process; a pid is given again once a parent has waited. */
bool ring_process_is_own(const struct ring_process *process);

/* Opens the events of a thread of the process and adds them to the set. 0, or a negative errno;
 * -ESRCH: the thread or the process has ended, and the id may belong to another process. */
int ring_process_open_thread(const struct ring_process *process, const struct thread_events *events,
                             struct event_set *set, pid_t tid);

/* Looks at the CPU time of the recorded threads. No effect when the process is gone. */
void ring_process_look(struct ring_process *process, uint64_t now_ns);
/* Only CPU time from now on belongs to the recording. Returns the CPU time before. */
uint64_t ring_process_restart(struct ring_process *process);

/* SPDX-License-Identifier: MIT */
/* The living threads and processes with switch records, by id. No I/O. */
#pragma once

#include "record/off_cpu/look_stack.h"
#include "record/off_cpu/time/cpu_excess.h"
#include "record/off_cpu/time/run_delay.h"
#include "record/off_cpu/time/short_waits.h"
#include "record/off_cpu/time/thread_run.h"
#include "record/off_cpu/time/wait_cut.h"
#include "record/procfs/blocked/blocked_call.h"
#include "record/procfs/memory_probe.h"
#include "record/tables/maps/process_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping that the file has for the stacks of waits. */
struct off_mapping {
    uint64_t start_avma, end_avma, file_offset, inode;
    bool has_module;
};

struct off_process {
    struct off_process *next_in_bucket;
    pid_t pid;
    uint32_t threads;
    uint64_t program_ns;          /* fork or exec; 0: older than the events */
    struct process_map *map;      /* NULL: not read */
    uint64_t generation;          /* changes with the map, unique in the recording */
    uint64_t map_due_ns;          /* no further read of the mappings before */
    uint64_t files_due_ns;        /* delayed files are read again; 0: none */
    bool is_map_old;              /* code was mapped since the map was read */
    bool is_refused;              /* rec may not trace the process */
    struct memory_probe *hanging; /* given up: the memory cannot be read; owned; NULL: none */
    bool is_other;                /* the pid belongs to a later process: no more looks */
    int pid_fd;                  /* its end is watched; owned; 0: not yet, negative: not possible */
    uint64_t asleep_ns;          /* a thread was found in state S; 0: not, or stopped */
    struct off_mapping *written; /* owned */
    size_t written_count, written_capacity;
};

/* The records are behind the account of the look. */
#define LOOK_WOKEN_UNKNOWN (INT64_MAX / 2)

/* What is known of the wait under way. */
struct wait_look {
    struct look_stack *stack;  /* NULL: none yet; used */
    uint64_t begin_ns, end_ns; /* of the look */
    uint64_t turns;            /* of the thread's account then */
    int64_t woken_ns;          /* of the thread's delay then; or LOOK_WOKEN_UNKNOWN */
    uint32_t tries;
};

/* The last read of a thread without switch records. */
struct thread_poll {
    struct run_account account;
    uint64_t read_ns, pause_ns; /* until the next read */
};

enum { OFF_TURNS = 4 };

struct off_thread {
    struct off_thread *next_in_bucket;
    pid_t tid;
    struct off_process *process;
    uint64_t file_ns; /* the file has the start of the thread from this time on; 0: before */
    struct thread_run run;
    struct wait_cut cut;   /* while blocked */
    struct wait_look look; /* while blocked */
    struct short_waits shorts;
    struct short_waits runnable; /* intervals shorter than two ticks */
    uint64_t ready_ns;           /* a longer one is written up to this time */
    struct run_delay delay;
    uint64_t preempted_at[OFF_TURNS]; /* sum of the records, at the latest turns by number */
    struct cpu_excess excess;
    int64_t excess_ns; /* CPU time in waits that are not written yet */
    struct thread_poll poll;
    int64_t woken_ns;      /* part of waits that are not written yet: woken, without a processor */
    uint64_t wakes;        /* turns after waits, since the last read of the delay */
    uint64_t wake_turn;    /* number of the latest turn after a wait */
    uint64_t preemptions;  /* so far, */
    uint64_t preempted_ns; /* and the time for them that was no CPU time */
    bool is_active;        /* has switched since the last read of the account */
    bool is_left_out;      /* the time off the processor does not count */
    struct off_thread *next_to_look;
    bool is_to_look; /* in the list of threads to look at */
    bool has_ended;  /* to be freed by the owner of this list */
    size_t place;    /* in struct off_tasks */
};

#define OFF_BUCKETS 1024u

struct off_tasks {                              /* zeros: empty */
    struct off_process *processes[OFF_BUCKETS]; /* by pid */
    struct off_thread *buckets[OFF_BUCKETS];    /* by tid */
    struct off_thread **threads;                /* in no order; owned */
    size_t count, capacity;
    uint64_t generation; /* the latest */
    size_t watched;      /* processes with a descriptor */
};

/* NULL: not there. */
struct off_thread *off_thread_find(const struct off_tasks *tasks, pid_t tid);
struct off_process *off_process_find(const struct off_tasks *tasks, pid_t pid);

/* A new thread, and its process if new, in this state. NULL: out of memory. */
struct off_thread *off_thread_add(struct off_tasks *tasks, pid_t pid, pid_t tid,
                                  enum run_state state, uint64_t start_ns);
/* Takes the thread out of the tables, and its process with the last thread. Frees the thread unless
 * it is in the list of threads to look at: then has_ended is set. */
void off_thread_remove(struct off_tasks *tasks, struct off_thread *thread);
void off_thread_free(struct off_thread *thread);

/* Another program, or code mapped since: drops the map. */
void off_process_drop_map(struct off_tasks *tasks, struct off_process *process);

void off_tasks_free(struct off_tasks *tasks);

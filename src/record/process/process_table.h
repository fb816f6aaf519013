/* SPDX-License-Identifier: MIT */
/*
 * The processes of the recording with a handshake, by slot of the table and by
 * pid. exec replaces the program: a new entry with the same pid; the old one has ended.
 *
 *     handshake ─▶ process_table_add() ─▶ exec: has_ended, next entry with this pid
 *                                      ─▶ end: has_ended, pid remembered ─▶ process_table_remove()
 *
 * An ended entry stays until no map of it is under way and no sample waits. No I/O. Collector
 * thread only.
 */
#pragma once

#include "base/files/rights.h"
#include "record/account/cpu_account.h"
#include "record/launch/perf_event.h"
#include "record/procfs/maps/proc_maps.h"
#include "record/procfs/target_memory.h"
#include "record/sample/synthetic.h"
#include "record/summary.h"
#include "record/tables/maps/mapping_room.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct process_map;
struct thread;

/* Frames of the C library below a thread's start routine: start_thread, clone3. */
#define THREAD_ROOT_FRAMES 2

/* A process or thread with another id in its own pid namespace. */
struct inner_id {
    pid_t here;   /* 0: none yet */
    pid_t stated; /* inside */
};

struct process {
    bool in_use;
    bool is_gone;                /* reaped before it could be watched */
    bool follows_exec;           /* its pid ran another recorded program before */
    bool is_detached;            /* no longer a descendant of the command: see process_tree.h */
    bool has_ended;              /* settled; the slot waits for maps under way */
    bool is_traced;              /* by a debugger, at the last look */
    bool has_run;                /* used CPU time since its children were last listed */
    const char *retired_because; /* its sampler ended the sampling: see retirement.h; or NULL */
    bool is_departing;           /* about to execute a program without a sampler: see departure.h */
    bool keeps_sampler;          /* perf-ring could not take it over: see outside.h */
    bool goes_on_outside;        /* perf-ring has taken it over, with its threads */

    /* Identity. */
    uint32_t slot; /* index in the table */
    pid_t pid, parent_pid;
    pid_t ancestor_pid; /* nearest recorded ancestor, mostly the parent; 0: none */
    pid_t stated_pid;   /* in its own pid namespace */
    uint32_t namespace, parents_namespace; /* as in struct identity */
    pid_t pid_for_parent;
    struct inner_id last_child, last_thread; /* found by the ids that they stated */
    struct rights rights;                    /* to files, when it joined; without groups */
    char name[16];
    uint64_t executable_id; /* of its file, device and inode mixed; 0: unknown */
    uint64_t start_ns;
    uint64_t checked_ns; /* last look for tracers and new mappings */
    uint64_t gone_ns;    /* end first seen; 0: runs */

    /* Sampling. */
    enum engine engine;
    struct perf_event event;
    int pid_fd; /* readable when the process has ended; -1 */
    timer_t wake_timer;
    bool has_wake_timer;
    struct target_memory *memory;
    struct thread **thread_slots; /* by thread slot, see thread_table.h; owned */
    size_t thread_slot_count, thread_slot_capacity;
    uint32_t threads_started;       /* of its slot, when all thread slots were looked at */
    uint32_t threads;               /* in the thread table */
    uint64_t ended_threads;         /* with a last record */
    uint64_t samples, foreign_cuts; /* of these, incomplete on a stack made by the program */
    uint64_t ring_bytes;            /* content of its rings at the start of the round, */
    uint64_t taken_bytes;           /* and the records read in the round, see drain.c */
    bool has_left;                  /* records wait for the next round */

    struct cpu_account account;
    uint64_t departed_cpu_ns; /* CPU time when is_departing was set */
    uint64_t
        counted_children_ns;  /* rusage of children already counted by the tree: process_tree.h */
    uint64_t rusage_ns;       /* passed on by the waiting process; 0: none */
    uint32_t children_waited; /* of its slot, passed on so far */

    /* Executable mappings: see process_maps.h. */
    struct proc_maps first_mappings; /* as read in the handshake; moved into the first request */
    struct process_map *map;         /* NULL until the first one arrives */
    struct process_map *map_before;  /* of the records left when map arrived; or NULL */
    uint64_t mapped_ns;              /* no record is dated earlier */
    bool has_unmapped_frames;        /* in the file, since the latest map */
    uint64_t synthetic_since_ns[SYNTHETICS]; /* synthetic frames in the file, see task_records.h */
    uint64_t unmapped_ns;      /* first thread end written before the first map; 0: none */
    uint64_t map_generation;   /* of the latest published map */
    uint32_t map_requests;     /* under way */
    uint32_t waiting_count;    /* samples that wait for a map or for CFI */
    uint64_t map_requested_ns; /* time of the newest request */
    uint32_t unknown_answered; /* the slot's unknown_requested at the last look */
    struct mapping_room mapping_room;
    uint64_t map_pause_ns; /* until the next request; grows while maps bring nothing new */
    /* Return addresses below each thread's start routine, innermost first; 0: no thread was sampled
     * yet. */
    uint64_t thread_root_avmas[THREAD_ROOT_FRAMES];

    /* CPU time grows without samples: see sampling_gaps.h. */
    bool is_blind;
    enum record_blind blind_cause; /* of the latest sighting */
    uint32_t blind_sightings;
    uint64_t blind_due_ns;
    uint64_t untracked_threads_due_ns;

    /* It seems to run without a sampler: see untracked_processes.h. */
    uint32_t untracked_sightings;                  /* in a row */
    uint64_t untracked_since_ns, untracked_cpu_ns; /* time and CPU time at the first of them */
};

/* Ends of recent processes: a pid may be reused before the new process has been met. */
#define LAST_ENDS 64
#define PID_BUCKETS 2048u

struct process_table {
    struct process processes[SESSION_PROCESSES];
    uint32_t live[SESSION_PROCESSES]; /* slots in use, in no order */
    size_t live_count;
    uint16_t bucket_first[PID_BUCKETS]; /* by pid: 1 + slot; 0: empty */
    uint16_t next_in_bucket[SESSION_PROCESSES];
    struct {
        pid_t pid;
        uint64_t end_ns;
    } last_ends[LAST_ENDS]; /* a ring */
    size_t end_count;
    uint32_t used_count;                    /* slots used so far */
    uint16_t free_slots[SESSION_PROCESSES]; /* free entries among them; the last is used next */
    size_t free_count;
    struct ended_memories ended_memories;
    size_t threads_kept; /* entries of all processes in thread_slots, ended threads included */
};

/* The i-th entry in use, i < live_count. */
static inline struct process *process_table_at(struct process_table *table, size_t i)
{
    return &table->processes[table->live[i]];
}

/* Memory shared with this process, written by the target. */
static inline struct process_slot *process_slot(const struct process *process)
{
    return &process->memory->shared->process;
}

/* The running program of this pid, or NULL. */
struct process *process_find(const struct process_table *table, pid_t pid);

/* Enters *from, with its memory; from->pid is its key from then on. NULL: the table is full. */
struct process *process_table_add(struct process_table *table, const struct process *from);
/* Frees map, mappings and event of the i-th entry in use, and gives up the memory: see
 * target_memory.h. */
void process_table_remove(struct process_table *table, size_t i, uint64_t now_ns);
void process_table_free(struct process_table *table);

/* The map for a record that did not wait for a map. */
struct process_map *process_map_at(const struct process *process, uint64_t time_ns);
void process_drop_map_before(struct process *process);

/* The pid of the child in the pid namespace of its parent. */
static inline pid_t process_called_by(const struct process *child, const struct process *parent)
{
    return child->namespace == parent->namespace ? child->stated_pid : child->pid_for_parent;
}

/* Remembers the end of a pid. */
void process_table_note_end(struct process_table *table, pid_t pid, uint64_t end_ns);
/* Start time of a new process, moved behind the end of an earlier one with this pid. */
uint64_t process_table_after_end_ns(const struct process_table *table, pid_t pid,
                                    uint64_t start_ns);

/* Time of the observed end, or now; never before the start. */
uint64_t process_end_ns(const struct process *process, uint64_t now_ns);

/* CPU time possibly used by the threads since their last samples. */
uint64_t process_periods_ns(const struct process *process, uint64_t period_ns);

/* SPDX-License-Identifier: MIT */
/*
 * An image is one program in one process; exec makes a new image of the same pid. An image has a process slot in shared
 * memory for as long as it lives.
 *
 *     a process joins ─▶ settle_start() ─▶ image ─▶ exec: image_end(), and the next one
 *                                                ─▶ the process ends: image_settle_and_end()
 *
 * For the collector thread only.
 */
#pragma once

#include "record/arm.h"
#include "record/compiler.h"
#include "record/proc.h"
#include "record/record.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct collector;

/* Of the C library: start_thread, clone3. */
#define THREAD_ROOT_FRAMES 2

/* Of a process or a thread in a pid namespace of its own. */
struct stated_id {
    pid_t here;   /* 0: none yet */
    pid_t stated; /* what it is there */
};

struct image {
    bool in_use;
    bool is_gone;      /* the process could not be watched any more */
    bool follows_exec; /* the process was there before, with another program */
    bool is_detached;  /* no longer a descendant of the command: see tree.c */
    bool has_ended;    /* settled; what remains is the slot, until no map is under way */
    bool has_run;      /* since its children were last looked for */

    /* Who it is. */
    pid_t pid, parent_pid;
    pid_t ancestor_pid; /* the nearest one with an image, its parent mostly; 0: none */
    pid_t stated_pid;   /* in its own pid namespace */
    struct stated_id last_child, last_thread; /* that were found by what they state */
    char name[16];
    uint64_t executable_id; /* of its file, as far as one number goes; 0: unknown */
    uint64_t start_ns;
    uint64_t checked_ns; /* when tracer and names were last looked at */
    uint64_t gone_ns;    /* when it was first seen to have ended; 0: not yet */

    /* How it is sampled and watched. */
    enum engine engine;
    struct armed armed;
    int pid_fd; /* readable when the process has ended; -1 */
    timer_t wake_timer;
    bool has_wake_timer;

    /* Its account: see settle.c. */
    uint64_t start_cpu_ns;        /* CPU of the pid when this image's sampler started */
    uint64_t seen_ns;             /* weight of this image's samples, lost ones included */
    uint64_t waiting_ns;          /* weight of samples that wait for a map */
    uint64_t last_cpu_ns;         /* CPU of the pid when last looked at, … */
    uint64_t looked_ns;           /* … and when that was */
    uint64_t counted_cpu_ns;      /* CPU of the pid when its event was read, … */
    uint64_t last_count_ns;       /* … which had counted so much */
    uint64_t counted_children_ns; /* bills of its children that are in detached_ns already */

    /* What it has mapped: see maps.c. */
    struct proc_maps first_mappings; /* as read at its start; taken by the first request */
    struct image_map *map;           /* NULL until the first one */
    uint64_t mapped_ns;              /* no record is older: its start, then the date of that one */
    uint64_t unmapped_ns;      /* the first end of a thread that was told before; 0: none was */
    uint32_t map_requests;     /* not answered yet */
    uint32_t waiting_count;    /* samples that wait for a map, or for the CFI of a module */
    uint64_t map_wanted_ns;    /* of the newest request */
    uint32_t unknown_answered; /* its slot's unknown_wanted when last looked at */
    uint64_t map_pause_ns;     /* before the next one: grows while maps bring nothing new */
    /* What calls the start routine of each of its threads: return addresses, innermost first; 0: no thread
     * had a sample yet. */
    uint64_t thread_root_avmas[THREAD_ROOT_FRAMES];

    /* Its CPU time grew, its samples did not: see blind.c. */
    bool is_blind;
    enum record_blind blind_cause;
    uint32_t blind_sightings;
    uint64_t blind_due_ns;
    uint64_t ended_threads;      /* that said so themselves */
    uint64_t unannounced_due_ns; /* the next look at threads that did not say anything */

    /* It seems to have no sampler any more: see strangers.c. */
    uint32_t strange_sightings;                /* in a row */
    uint64_t strange_since_ns, strange_cpu_ns; /* time and its CPU time at the first of them */
};

/* The shared memory that an image's process writes. */
struct process_slot *image_slot(const struct collector *collector, const struct image *image);
void images_check(struct collector *collector);
void images_find_ended(struct collector *collector);
/* A command that never joined gets its name and the synthetic mappings, for what is said of it. */
void images_start_silent(struct collector *collector, pid_t pid, const char *program);
/* The program is over: by exec, which settles with its successor's start, … */
void image_end(struct collector *collector, struct image *image);
/* … or because its process ended, or the recording. */
void image_settle_and_end(struct collector *collector, struct image *image);
/* … and the file says so. */
void image_end_process(struct collector *collector, struct image *image);
/* A process takes the time of its start before we hear of it: by then we may have dated the end of the
 * one that had its pid, and later. */
uint64_t images_after_end_ns(const struct collector *collector, pid_t pid, uint64_t start_ns);
void image_want_map(struct collector *collector, struct image *image);
/* The first map of a process that proved worth it: it ran for a while, or has a sample. */
void image_want_first_map(struct collector *collector, struct image *image);
struct image *image_of_pid(struct collector *collector, pid_t pid);
void images_add_not_followed(struct collector *collector, pid_t pid, const char *name,
                             const char *reason);
void images_add_cpu_not_followed(struct collector *collector, pid_t pid, uint64_t cpu_ns);
/* FORK unless it is_exec, COMM, the synthetic mappings; EXIT. */
void images_write_start(struct collector *collector, struct image *image, bool is_exec);
void images_write_exit(struct collector *collector, const struct image *image);
/* End time of the process, or the current round while it runs; never before its start. */
uint64_t image_end_ns(const struct collector *collector, const struct image *image);
/* The FORK or EXIT record of a thread of this process, or of the process itself. */
struct perfdata_task image_task(const struct image *image, pid_t tid, pid_t parent_pid,
                                uint64_t time_ns);
/* From now on something runs in it that has no sampler. */
void images_turn_stranger(struct collector *collector, struct image *image, const char *reason);

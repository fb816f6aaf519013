/* SPDX-License-Identifier: MIT */
/* The options of a recording. */
#pragma once

#include "record/events/event_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum record_engine {
    RECORD_ENGINE_AUTO,
    RECORD_ENGINE_PERF_TRAP,
    RECORD_ENGINE_TIMER,
    RECORD_ENGINE_PERF_RING, /* from outside: kernel rings, see perf_ring/ring_source.h */
};
const char *record_engine_name(enum record_engine engine); /* "perf-trap", "timer" */
/* Whether the sampler takes the samples. */
bool record_engine_is_injected(enum record_engine engine);

#define RECORD_FREQUENCY_DEFAULT 999
#define RECORD_FREQUENCY_MAX 20000
#define RECORD_OFF_CPU_INTERVAL_NS 10000000

struct record_options {
    /* The command and its arguments, NULL-terminated; NULL: none. Beside targets or the system, its
     * end ends the recording. */
    char *const *argv;
    const pid_t *targets; /* running processes to record instead of a command */
    size_t target_count;
    bool targets_are_threads; /* thread ids: only these threads */
    const char *user;       /* the targets are this user's processes, and may end meanwhile; NULL */
    bool records_system;    /* all processes, or those of the cgroup */
    const char *processors; /* "0-3,6"; NULL: all */
    const char *cgroup;     /* path below the mount point; NULL: none */
    int output_fd;          /* of rec.data, empty and writable; stays open */
    const char *output_name; /* name of the file in messages */
    uint32_t recorders;      /* set of rows of recorders.h; cpu is recorded in any case */
    uint32_t frequency;      /* 1 .. RECORD_FREQUENCY_MAX */
    struct event_request events[EVENT_REQUESTS_MAX]; /* a clock is there once; none: CPU time */
    size_t event_count;
    enum record_engine engine;
    bool kernel_stacks;    /* kernel time has the kernel's stack above the user stack */
    bool kernel_only;      /* user time is left out; with kernel_stacks */
    bool exclude_kernel;   /* kernel time is one frame, also where it could be sampled */
    bool kernel_callers;   /* stacks have their part in the kernel only; with kernel_stacks */
    int compression_level; /* of the file's records, by zstd; 0: none */
    bool raw_stacks;       /* samples keep the kernel's copy of the stack; by perf-ring */
    bool no_command_line;  /* leave argv out of the file */
    /* a stack copy with every n-th sample, for comparison; 0: never */
    uint32_t self_check_every;
    bool withhold_tables;         /* test switch: every sample goes through the offline unwinder */
    bool no_inherit;              /* only the first process */
    bool wait_all;                /* until the last process of the tree has ended */
    bool end_command;             /* end the command if the recording ends first */
    uint64_t off_cpu_interval_ns; /* between two looks at waiting threads; not 0 */
    bool off_cpu_only;            /* no samples, neither of CPU time nor of other events */
    uint64_t delay_ns;            /* before sampling begins; 0: none */
    uint64_t duration_ns;         /* of sampling; 0: until the command ends */
    uint64_t size_max;            /* bytes of the file; 0: no limit */
    uint64_t keep_free_bytes; /* free space of the file system; 0: the default (base/budget.h) */
};

/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of one recording: how launcher and targets find each other, and the write
 * access of each side.
 *
 *   tables (memfd, F_SEAL_FUTURE_WRITE)           rings (memfd)
 *   only the launcher can write                   every process of the recording can write
 *   ┌──────────────────────────────┐              ┌──────────────────────────────┐
 *   │ tables_header: config, stop  │              │ rings_header: doorbell       │
 *   │ verdict of each process slot │◀── index ───▶│ process slots: requests      │
 *   │ 2 module maps of each slot   │              │ thread slots: counters       │
 *   │ rows of all modules          │              │ one ring of each thread slot │
 *   └──────────────────────────────┘              └──────────────────────────────┘
 *
 * Both are sealed against growing and shrinking (truncation by one side would raise SIGBUS in the
 * other) and sparse: unused parts cost address space only, 144 MiB and 513 MiB.
 *
 * Start of a process (exec starts a new one with the same pid):
 *
 *     target constructor                               launcher
 *     claim a process slot, fill it in
 *     state = REQUESTED, ring the doorbell ─────────▶  state = TAKEN
 *     wait on state, at most 5 ms (*)                  read /proc/PID, write the verdict,
 *                                                      open the event, disabled
 *     ◀──────────────────────────────────────────────  TAKEN -> ANSWERED, enable the event, wake
 *     after 5 ms: REQUESTED or TAKEN -> WITHDRAWN      (TAKEN -> ANSWERED fails: close the event)
 *     (*) 200 ms while /proc shows the launcher as running, and 5 s for the command
 *
 * The target stays inside its constructor until then, so no exec can happen between reading /proc
 * and opening the event; the kernel removes an open event on exec.
 *
 * The launcher does not trust `rings`: it copies each value, then checks the copy against its own
 * data.
 */
#pragma once

#include "wire/rows.h"

#include <stddef.h>
#include <stdint.h>

#define SESSION_MAGIC UINT64_C(0x3170726c74636572) /* "rectlrp1" */
#define SESSION_VERSION 18

/* "TABLES_FD:RINGS_FD:LAUNCHER_PID:TOKEN:FORBIDDEN" (decimal, the last two in hex). FORBIDDEN: the
 * system calls forbidden by a seccomp filter of the program. The launcher writes 0; samplers pass
 * the value on to later programs.
 * Grants no rights: a process that can map the shared memory finds TOKEN there. */
#define SESSION_VARIABLE "REC_SESSION"

/* Room for the sampler's path with its NUL: a sampler with a longer path is loaded from a copy. */
#define SESSION_SAMPLER_NAME "librec-sampler.so"
#define SESSION_SAMPLER_BYTES_MAX 2048
/* The sampler with the hooks of other recorders has the same name, in this folder. */
#define SESSION_RECORDERS_FOLDER "rec-recorders"

/* The newest symbol version of the C library that the sampler needs: with an older library,
 * programs would not start. The library's dynamic linker contains this version string too; programs
 * with an older linker are not recorded. */
#define SESSION_LIBC_VERSION "GLIBC_2.34"

#define SESSION_PROCESSES 1024u /* at one time */
#define SESSION_THREADS 1024u
#define SESSION_MODULES 1024u /* executable mappings of one process */
#define SESSION_ROWS \
    (UINT64_C(8) << 20) /* 64 MiB: all modules of a large browser, with their indexes */
#define SESSION_RING_BYTES (UINT64_C(512) << 10)
/* limit of the delay of a start while the launcher is absent */
#define SESSION_WAIT_NS 5000000
/* … and while the launcher runs, but waits for a processor */
#define SESSION_WAIT_BUSY_NS 200000000
/* The same for the command itself: without the command there is no recording. */
#define SESSION_WAIT_COMMAND_NS UINT64_C(5000000000)

enum engine {
    ENGINE_NONE = 0,      /* not recorded; the sampler stays inert */
    ENGINE_PERF_TRAP = 1, /* event opened by the launcher; SIGTRAP */
    ENGINE_TIMER = 2,     /* a CPU timer of each thread; SIGPROF */
};

/* Written by the launcher before the first target starts, then constant, except quiet,
 * heartbeat_ticks and stop. */
struct tables_header {
    uint64_t magic;
    uint32_t version;
    uint32_t launcher_pid;
    uint64_t token;
    uint64_t period_ns;
    uint64_t kernel_interval_ns; /* perf-trap: CPU time between reads of the kernel's share */
    uint64_t sig_data;           /* perf-trap: sig_data of rec's events */
    uint64_t stale_ticks;        /* with an older heartbeat, the launcher counts as dead */
    uint32_t self_check_every;   /* 0: never */
    uint32_t withhold_tables;    /* 1: every sample is copied (a test switch) */
    uint32_t no_inherit;         /* 1: only the first process is recorded */
    uint32_t launcher_namespace; /* inode of the launcher's pid namespace */
    uint32_t quiet;              /* 1: sampling has not begun yet */
    uint64_t linker_device,
        /* the launcher's dynamic linker, new enough for the sampler; 0: unknown */
        linker_inode;
    uint64_t heartbeat_ticks;  /* clock of the launcher's last sign of life */
    uint32_t stop;             /* 1: the recording is over */
    uint32_t takes_departures; /* 1: programs without a sampler can be recorded */
};

/* The launcher's reply to a process slot, and the state of the process' map. */
struct process_verdict {
    uint32_t pid;    /* as stated in the request */
    uint32_t engine; /* enum engine */
    /* Number of the published map; 0: none yet. The current map is number generation % 2. */
    uint64_t generation;
    uint32_t counts[2]; /* modules in either map */
    /* the process' unload_count when the mappings of the current map were read */
    uint32_t unload_count;
    /* Inode of the process' pid namespace, 0 for the launcher's own; the same for its parent, and
     * the pid of the process in the parent's namespace, if the two differ. */
    uint32_t namespace, parents_namespace, pid_for_parent;
    uint32_t unused[6];
};
_Static_assert(sizeof(struct process_verdict) == 64, "one cache line each");

struct module_map {
    struct wire_module modules[SESSION_MODULES];
};

struct tables {
    struct tables_header header;
    uint8_t unused[4096 - sizeof(struct tables_header)];
    struct process_verdict verdicts[SESSION_PROCESSES];
    struct module_map maps[SESSION_PROCESSES][2];
    struct row rows[SESSION_ROWS];
};
_Static_assert(offsetof(struct tables, verdicts) == 4096, "page aligned");

/* Ends the sampling of one process: process_slot.retirement. */
enum retirement {
    RETIREMENT_NONE = 0,
    RETIREMENT_REQUESTED = 1, /* by the process; wakes the collector */
    RETIREMENT_DONE = 2,      /* by the launcher: the event is closed; futex */
};

/* A program without a sampler is about to be executed: process_slot.departure. */
enum departure {
    DEPARTURE_NONE = 0,
    DEPARTURE_CLAIMED = 1,   /* by a thread of the process, or by its vfork child */
    DEPARTURE_REQUESTED = 2, /* departure_pid is set; wakes the collector */
    DEPARTURE_DONE = 3,      /* by the launcher: events wait for the exec, or cannot; futex */
};

enum process_state {
    PROCESS_FREE = 0,
    PROCESS_CLAIMED = 1,   /* being filled in */
    PROCESS_REQUESTED = 2, /* waits for the launcher */
    PROCESS_TAKEN = 3,     /* the launcher examines the request */
    PROCESS_ANSWERED = 4,  /* see the verdict */
    PROCESS_WITHDRAWN = 5, /* the launcher was too slow: the program runs without samples */
    PROCESS_DISMISSED = 6, /* the process has read that it is not recorded */
};

struct process_slot {
    uint32_t state; /* enum process_state; futex */
    uint32_t pid;   /* in its own pid namespace, as are all ids that targets write */
    uint32_t parent_pid;
    uint32_t unload_count; /* raised before and after each dlclose */
    uint64_t start_ticks;
    uint64_t start_cpu_ns;   /* CPU of this pid before the constructor ran */
    uint64_t lost_no_thread; /* signals in threads without a slot */
    /* dlclose() waits until the launcher has read the mappings: another library could be loaded at
     * the same addresses. */
    uint32_t unknown_count; /* samples in, or called from, code of no published module */
    uint32_t
        unknown_requested; /* unknown_count at the last dlclose(), which waits for unknown_seen */
    /* unknown_count before the last read of the mappings; by the launcher; futex */
    uint32_t unknown_seen;
    uint32_t copy_of;     /* 1 + process slot of the parent of a forked child; 0: not forked */
    char name[16];        /* of the process' only thread */
    uint64_t children_ns; /* rusage of the children that the process has waited for */
    /* rusage of this process, children included, from the waiting parent; 0: not yet */
    uint64_t bill_ns;
    uint64_t mark_avma;  /* address of the struct process_mark */
    uint64_t end_cpu_ns; /* CPU of this pid at exit() or execve() of its program; 0: neither */
    /* Programs run by another program (valgrind, qemu) see another vDSO than the kernel's, or
     * none. */
    uint64_t vdso_avma;     /* 0: see executable */
    uint32_t end_is_exec;   /* 1: end_cpu_ns is that of execve() */
    uint32_t retirement;    /* enum retirement */
    uint32_t departure;     /* enum departure */
    uint32_t departure_pid; /* of this process, or of a vfork child */
    char executable[384];   /* /proc/self/exe in the view of the process, if there is no vDSO */
};
_Static_assert(sizeof(struct process_slot) == 512, "size of the array");

/* In private memory wiped by fork: identifies the owner of a process slot, whatever its pid is in
 * the launcher's namespace. */
struct process_mark {
    uint64_t token;   /* of the session */
    uint32_t process; /* index of the process slot */
    uint32_t unused;
};

enum thread_slot_state {
    THREAD_FREE = 0,
    THREAD_CLAIMED = 1, /* being filled in by its process */
    THREAD_ACTIVE = 2,
    THREAD_ENDED = 3, /* the launcher drains it, then frees it */
};

#define HANDLER_BUCKETS 24 /* bucket i: less than 2^(i+6) clock ticks */

struct thread_slot {
    uint32_t state; /* enum thread_slot_state */
    uint32_t pid;
    uint32_t tid;
    uint32_t process; /* index of the process slot */
    uint64_t start_ticks;
    uint64_t produced;       /* records made, with or without room in the ring */
    uint64_t lost_ring_full; /* of these: no room in the ring */
    uint64_t lost_busy;
    uint64_t lost_crashing; /* the program was handling a crash */
    uint64_t lost_away;     /* the launcher was stopped or dead, and the ring not read */
    uint64_t merged;
    uint64_t lost_weight_ns;                 /* weight of the lost records */
    uint64_t lost_events;                    /* records of other events than CPU time */
    uint32_t handler_ticks[HANDLER_BUCKETS]; /* histogram of the handler's run time */
    uint64_t handler_max_ticks;
    uint8_t unused[256 - 96 - 4 * HANDLER_BUCKETS];
};
_Static_assert(sizeof(struct thread_slot) == 256, "size of the array");

/* The words of producer and consumer are on different cache lines. Positions count bytes since the
 * start. No side reads back a word that it writes itself: see ring.h. */
struct ring_control {
    uint64_t head; /* written by the thread: everything before it is committed */
    uint64_t base; /* written by the thread: the position at the ring's first byte */
    uint8_t unused1[48];
    uint64_t tail; /* written by the launcher: everything before it is read */
    uint8_t unused2[56];
};
_Static_assert(sizeof(struct ring_control) == 128, "two cache lines");

struct rings_header {
    uint64_t magic;
    uint32_t version;
    uint32_t doorbell; /* futex: raised by a process with a request */
    uint64_t token;
    uint32_t lost_no_slot;        /* processes without a free process slot */
    uint32_t lost_launcher_away;  /* processes that made no request, as the launcher was away */
    uint32_t lost_no_thread_slot; /* threads without a free thread slot */
    uint32_t threads_started;     /* raised by every thread that becomes active */
    uint32_t processes_used;      /* no slot from this one on was ever claimed */
    uint32_t threads_used;
    /* The heartbeat without a reply to a start: no further start waits before the next
     * heartbeat. */
    uint64_t deserted_ticks;
};

struct rings {
    struct rings_header header;
    uint8_t unused[4096 - sizeof(struct rings_header)];
    struct process_slot processes[SESSION_PROCESSES];
    struct thread_slot threads[SESSION_THREADS];
    struct ring_control controls[SESSION_THREADS];
    uint8_t data[SESSION_THREADS][SESSION_RING_BYTES];
};
_Static_assert(offsetof(struct rings, data) % 4096 == 0, "page aligned");

/* With limited address space, a process maps the tables, and the data of its own threads' rings
 * alone. A process is not recorded if the tables would take more than a quarter of its limit. */
#define SESSION_LEAST_SPACE_BYTES (4 * (uint64_t)sizeof(struct tables))

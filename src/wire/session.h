/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of one recording: how launcher and targets find each other and what each may write.
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
 * Both are sealed against growing and shrinking (a peer that truncates would raise SIGBUS in the other)
 * and sparse: what is not used costs address space only, 144 MiB and 513 MiB.
 *
 * Start of a process (an "image": exec makes a new one with the same pid):
 *
 *     target constructor                               launcher
 *     claim a process slot, fill it in
 *     state = REQUESTED, ring the doorbell ─────────▶  state = TAKEN
 *     wait on state, at most 5 ms (*)                  look at /proc/PID, write the verdict,
 *                                                      open the event, disabled
 *     ◀──────────────────────────────────────────────  TAKEN -> ANSWERED, enable the event, wake
 *     after 5 ms: REQUESTED or TAKEN -> WITHDRAWN      (TAKEN -> ANSWERED fails: close the event)
 *     (*) 200 ms when /proc says that the launcher is not stopped, and 5 s if it is the command
 *
 * The target is inside its constructor until then, so no exec can slip between looking and arming; an
 * event that is open is removed by the kernel on exec.
 *
 * The launcher trusts nothing in `rings`: it copies, then checks against what it knows itself.
 */
#pragma once

#include "wire/rows.h"

#include <stddef.h>
#include <stdint.h>

#define SESSION_MAGIC UINT64_C(0x3170726c74636572) /* "rectlrp1" */
#define SESSION_VERSION 15

/* "TABLES_FD:RINGS_FD:LAUNCHER_PID:TOKEN:FORBIDDEN" (decimal, the last two in hex). The last one says which system
 * calls a filter of the program's forbids: the launcher knows of none, samplers tell it to those after them. */
#define SESSION_VARIABLE "REC_SESSION"

/* Of the sampler's path, with its end: a longer one is loaded from a copy. */
#define SESSION_SAMPLER_NAME "librec-sampler.so"
#define SESSION_SAMPLER_BYTES_MAX 2048

/* The newest symbols of the C library that the sampler needs: without them programs would not start. The library's
 * dynamic linker names this version, too, and whoever has a linker that does not is left alone. */
#define SESSION_LIBC_VERSION "GLIBC_2.34"

#define SESSION_PROCESSES 1024u /* at one time */
#define SESSION_THREADS 1024u
#define SESSION_MODULES 1024u /* executable mappings of one process */
#define SESSION_ROWS \
    (UINT64_C(8) << 20) /* 64 MiB: all modules of a large browser, with their indexes */
#define SESSION_RING_BYTES (UINT64_C(512) << 10)
#define SESSION_WAIT_NS 5000000        /* how long a start may be delayed by an absent launcher */
#define SESSION_WAIT_BUSY_NS 200000000 /* … and by one that runs, but has to wait for a processor */
/* The same for the command itself, without which nothing is recorded. */
#define SESSION_WAIT_COMMAND_NS UINT64_C(5000000000)

enum engine {
    ENGINE_NONE = 0,      /* not followed; the sampler stays inert */
    ENGINE_PERF_TRAP = 1, /* armed from outside; SIGTRAP */
    ENGINE_TIMER = 2,     /* a CPU timer of each thread; SIGPROF */
};

/* Written by the launcher before the first target starts, then constant, but for the last three. */
struct tables_header {
    uint64_t magic;
    uint32_t version;
    uint32_t launcher_pid;
    uint64_t token;
    uint64_t period_ns;
    uint64_t kernel_interval_ns; /* perf-trap: CPU time between looks at the kernel's share */
    uint64_t sig_data;           /* perf-trap: what our events carry */
    uint64_t stale_ticks;        /* a heartbeat older than this: the launcher is gone */
    uint32_t self_check_every;   /* 0: never */
    uint32_t withhold_tables;    /* 1: every sample is copied (a test switch) */
    uint32_t show_environment;   /* 1: programs see LD_PRELOAD and SESSION_VARIABLE */
    uint32_t no_inherit;         /* 1: only the first process is recorded */
    uint32_t launcher_namespace; /* inode of its pid namespace */
    uint32_t quiet;              /* 1: sampling has not begun yet */
    uint64_t linker_device,
        linker_inode;         /* the launcher's dynamic linker, which is new enough; 0: unknown */
    uint64_t heartbeat_ticks; /* clock of the launcher's last sign of life */
    uint32_t stop;            /* 1: the recording is over */
};

/* The launcher's answer to a process slot, and the map that goes with it. */
struct process_verdict {
    uint32_t pid;    /* whom it is for, as it said */
    uint32_t engine; /* enum engine */
    /* Of the published map; 0: none yet. Map generation % 2 is the current one. */
    uint64_t generation;
    uint32_t counts[2];    /* modules in either map */
    uint32_t unload_count; /* the process' unload_count that the current map has seen */
    /* The process' pid namespace by its inode, 0 for the launcher's own; the same of its parent, where the
     * process is known by another pid, if the two differ. */
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

/* A process that must not be sampled any more: process_slot.retirement. */
enum retirement {
    RETIREMENT_NONE = 0,
    RETIREMENT_REQUESTED = 1, /* by the process; it rings the doorbell */
    RETIREMENT_DONE = 2,      /* by the launcher: the event is closed; futex */
};

enum process_state {
    PROCESS_FREE = 0,
    PROCESS_CLAIMED = 1,   /* being filled in */
    PROCESS_REQUESTED = 2, /* wants to be looked at */
    PROCESS_TAKEN = 3,     /* the launcher is looking */
    PROCESS_ANSWERED = 4,  /* see the verdict */
    PROCESS_WITHDRAWN = 5, /* the launcher was too slow: runs on unsampled */
    PROCESS_DISMISSED = 6, /* has read that it is not followed */
};

struct process_slot {
    uint32_t state; /* enum process_state; futex */
    uint32_t pid;   /* in its own pid namespace, as are all ids that targets write */
    uint32_t parent_pid;
    uint32_t unload_count; /* raised before and after each dlclose */
    uint64_t start_ticks;
    uint64_t start_cpu_ns;   /* CPU of this pid before the constructor ran */
    uint64_t lost_no_thread; /* signals in threads without a slot */
    /* Before code goes away, the launcher has to know what it was: a library that is loaded at the same
     * place could not be told from it. */
    uint32_t unknown_count; /* samples in, or called from, code of no published module */
    uint32_t
        unknown_requested; /* a dlclose waits until the mappings have been read after that one */
    uint32_t unknown_seen; /* they have been read after that one; by the launcher; futex */
    uint32_t copy_of; /* 1 + process slot of its parent, whose image it runs on in; 0: no fork */
    char name[16];    /* of its only thread */
    uint64_t children_ns; /* bills of the children that it has waited for */
    uint64_t bill_ns;     /* its own, these included, from whoever waited for it; 0: not yet */
    uint64_t mark_avma;   /* its struct process_mark */
    uint64_t
        end_cpu_ns; /* CPU of this pid when its program called exit() or execve(); 0: neither */
    /* Who is inside another program (valgrind, qemu) sees another vDSO than the kernel does, or none. */
    uint64_t vdso_avma;   /* 0: see executable */
    uint32_t end_is_exec; /* 1: end_cpu_ns is that of execve() */
    uint32_t retirement;  /* enum retirement */
    char executable[392]; /* as the process sees /proc/self/exe, if it knows of no vDSO */
};
_Static_assert(sizeof(struct process_slot) == 512, "size of the array");

/* In private memory that fork wipes: whose process slot this is. By that the launcher knows the process again, whatever
 * its pid is here. */
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
    uint64_t produced;       /* records wanted, written or not */
    uint64_t lost_ring_full; /* of these: found no room */
    uint64_t lost_busy;
    uint64_t lost_crashing; /* the program was handling a crash */
    uint64_t lost_away;     /* nobody read the rings: the launcher was stopped, or dead */
    uint64_t merged;
    uint64_t lost_weight_ns;                 /* what the lost ones weighed */
    uint32_t handler_ticks[HANDLER_BUCKETS]; /* histogram of the handler's own time */
    uint64_t handler_max_ticks;
    uint8_t unused[256 - 88 - 4 * HANDLER_BUCKETS];
};
_Static_assert(sizeof(struct thread_slot) == 256, "size of the array");

/* Producer's and consumer's words on lines of their own. Positions count bytes since the start.
 * Neither side reads back a word that it writes itself: see ring.h. */
struct ring_control {
    uint64_t head; /* written by the thread: everything before it is committed */
    uint64_t base; /* written by the thread: the position that lies at the ring's first byte */
    uint8_t unused1[48];
    uint64_t tail; /* written by the launcher: everything before it is read */
    uint8_t unused2[56];
};
_Static_assert(sizeof(struct ring_control) == 128, "two cache lines");

struct rings_header {
    uint64_t magic;
    uint32_t version;
    uint32_t doorbell; /* futex: raised by a process that wants to be looked at */
    uint64_t token;
    uint32_t lost_no_slot;        /* processes that found no process slot */
    uint32_t lost_launcher_away;  /* processes that did not ask, for nobody would have answered */
    uint32_t lost_no_thread_slot; /* threads that found no thread slot */
    uint32_t threads_started;     /* raised by every thread that becomes active */
    uint32_t processes_used; /* no slot from here on was ever claimed: nobody need look there */
    uint32_t threads_used;
    uint64_t deserted_ticks; /* the heartbeat after which a start was not answered: no other start
                                 waits before the next one */
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

/* Where address space is limited a process maps the tables, and of the rings' data that of its own threads alone. It is
 * left alone where the tables would be more than a quarter of that. */
#define SESSION_LEAST_SPACE_BYTES (4 * (uint64_t)sizeof(struct tables))

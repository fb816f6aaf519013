/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of one recording: how launcher and targets find each other, and the write
 * access of each side.
 *
 *   tables                        requests                       memory of a process (rec-rings)
 *   only the launcher writes      every process writes           the process and the launcher write
 *   ┌─────────────────────────┐   ┌─────────────────────────┐    ┌───────────────────────────────┐
 *   │ tables_header: config,  │   │ doorbell                │    │ process slot, verdict         │
 *   │ stop                    │   │ requests of starting    │    │ waited children               │
 *   │ rows of all modules     │   │ processes: pid,         │    │ 2 module maps                 │
 *   └─────────────────────────┘   │ descriptor, inode ──────┼──▶ │ thread slots, ring controls   │
 *                                 │ accounts of threads     │    │ one ring of each thread slot  │
 *                                 └─────────────────────────┘    └───────────────────────────────┘
 *
 * All are memfds, sealed against growing and shrinking (truncation by one side would raise SIGBUS
 * in the other), and sparse: unused parts cost address space only. A process maps 60 MiB of tables,
 * and of its own memory the rings of the first SESSION_FIRST_RINGS threads; further rings one by
 * one, 512 KiB each.
 *
 * Each process makes its own memory, and closes the descriptor after the handshake. No other
 * process can map the memory: forked children do not inherit the mapping (MADV_DONTFORK), and the
 * launcher opens the descriptor through /proc/PID/fd. The launcher maps nothing but a sealed memfd
 * of the stated inode, owned by the user of the process.
 *
 * RLIMIT_FSIZE applies to memfds. Where the limit of a process is too low, a first request leads
 * the launcher to the empty memory, and the launcher sets the size.
 *
 * Start of a process (exec starts a new one with the same pid):
 *
 *     target constructor                               launcher
 *     make the memory, fill in the process slot
 *     slot state = REQUESTED
 *     claim a request, fill it in
 *     request = MADE, ring the doorbell ────────────▶  request = TAKEN
 *     wait on the request, at most 0.2 s (*)           find the process with this descriptor,
 *                                                      map its memory; slot state = TAKEN
 *                                                      read /proc/PID, write the verdict,
 *                                                      open the event, disabled
 *                                                      slot: TAKEN -> ANSWERED, enable the event
 *     ◀──────────────────────────────────────────────  request = REPLIED, wake
 *     read the slot's state; request = FREE
 *     after 0.2 s: slot REQUESTED or TAKEN -> WITHDRAWN (TAKEN -> ANSWERED fails: close the event)
 *     (*) 5 s for the command; not at all until the next heartbeat after a wait in vain
 *
 * Only the state in the process' own memory decides about the answer; the request merely leads the
 * launcher to this memory, and wakes the process. Another process of the recording can delay or
 * spoil a start, and no more.
 *
 * The target stays inside its constructor until then, so no exec can happen between reading /proc
 * and opening the event; the kernel removes an open event on exec.
 *
 * The launcher does not trust what targets write: it copies each value, then checks the copy
 * against its own data.
 */
#pragma once

#include "wire/rows.h"

#include <stddef.h>
#include <stdint.h>

#define SESSION_MAGIC UINT64_C(0x3170726c74636572) /* "rectlrp1" */
#define SESSION_VERSION 25

/* "TABLES_FD:REQUESTS_FD:LAUNCHER_PID:TOKEN:FORBIDDEN" (decimal, the last two in hex). FORBIDDEN:
 * the system calls forbidden by a seccomp filter of the program. The launcher writes 0; samplers
 * pass the value on to later programs.
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

/* Room for "REC_SESSION=…:" without FORBIDDEN, with its NUL. */
#define SESSION_ENTRY_BYTES 128u

#define SESSION_PROCESSES 4096u /* at one time */
#define SESSION_REQUESTS 4096u  /* processes that start at one time */
#define SESSION_ACCOUNTS 4096u  /* by tid; threads that end between two rounds of the launcher */
#define SESSION_THREADS 1024u   /* of one process */
#define SESSION_FIRST_RINGS 16u /* mapped at the start */
#define SESSION_MODULES 1024u   /* executable mappings of one process */
#define SESSION_CHILDREN 128u   /* waited for between two rounds of the launcher */
#define SESSION_ROWS \
    (UINT64_C(15) << 19) /* 60 MiB: all modules of a large browser, with their indexes */
#define SESSION_RING_BYTES (UINT64_C(512) << 10)
/* Limit of the delay of a start: on a machine with three times as many busy threads as processors,
 * the reply to one start in twelve took longer than 5 ms. */
#define SESSION_WAIT_BUSY_NS 200000000
/* The same for the command itself: without the command there is no recording. */
#define SESSION_WAIT_COMMAND_NS UINT64_C(5000000000)

enum engine {
    ENGINE_NONE = 0,      /* not recorded; the sampler stays inert */
    ENGINE_PERF_TRAP = 1, /* event opened by the launcher; SIGTRAP */
    ENGINE_TIMER = 2,     /* a CPU timer of each thread; SIGPROF */
};

/* A dynamic linker, by its file; 0: none. */
struct session_linker {
    uint64_t device, inode;
};
enum { SESSION_LINKERS = 2 }; /* of rec and of the command */

/* Written by the launcher before the first target starts, then constant, except quiet,
 * heartbeat_ticks and stop. */
struct tables_header {
    uint64_t magic;
    uint32_t version;
    uint32_t launcher_pid;
    uint64_t token;
    uint64_t period_ns;
    /* perf-trap: CPU time between reads of the kernel's share; 0: kernel events have it */
    uint64_t kernel_interval_ns;
    uint64_t sig_data;       /* perf-trap: sig_data of rec's events */
    uint64_t event_weight;   /* of a sample of `event`, in the unit of the event */
    uint32_t event;          /* perf-trap: row of the event that raises the signals; 0: CPU time */
    uint32_t takes_accounts; /* 1: threads note their accounts, see account_note */
    uint64_t stale_ticks;    /* with an older heartbeat, the launcher counts as dead */
    uint32_t self_check_every;                      /* 0: never */
    uint32_t frames_max;                            /* of a stack: 4 to RECORD_FRAMES_MAX */
    uint32_t withhold_tables;                       /* 1: every sample is copied (a test switch) */
    uint32_t no_inherit;                            /* 1: only the first process is recorded */
    uint32_t launcher_namespace;                    /* inode of the launcher's pid namespace */
    uint32_t quiet;                                 /* 1: sampling has not begun yet */
    struct session_linker linkers[SESSION_LINKERS]; /* that can load the sampler */
    uint64_t heartbeat_ticks;                       /* clock of the launcher's last sign of life */
    uint32_t stop;                                  /* 1: the recording is over */
    uint32_t takes_departures;         /* 1: programs without a sampler can be recorded */
    char session[SESSION_ENTRY_BYTES]; /* "REC_SESSION=…:", without FORBIDDEN */
    char preload[16 + SESSION_SAMPLER_BYTES_MAX]; /* "LD_PRELOAD=…": the sampler alone */
};

/* The launcher's reply to a request, and the state of the process' map. */
struct process_verdict {
    uint32_t index;     /* of the process, for copy_of of its forked children */
    uint32_t engine;    /* enum engine */
    uint32_t namespace; /* inode of the process' pid namespace, 0 for the launcher's own */
    /* the process' unload_count when the mappings of the current map were read */
    uint32_t unload_count;
    /* Number of the published map; 0: none yet. The current map is number generation % 2. */
    uint64_t generation;
    uint32_t counts[2];      /* modules in either map */
    uint32_t is_handed_over; /* 1: recorded from outside from now on; the sampler stays inert */
    uint32_t unused[7];
};
_Static_assert(sizeof(struct process_verdict) == 64, "one cache line");

struct module_map {
    struct wire_module modules[SESSION_MODULES];
};

struct tables {
    struct tables_header header;
    uint8_t unused[4096 - sizeof(struct tables_header)];
    struct row rows[SESSION_ROWS];
};
_Static_assert(offsetof(struct tables, rows) == 4096, "page aligned");

/* Ends the sampling of one process: process_slot.retirement. */
enum retirement {
    RETIREMENT_NONE = 0,
    RETIREMENT_SIGNALFD = 1, /* by the process, with a doorbell: reads the signal itself, */
    RETIREMENT_CLOCK = 2,    /* gives up the time stamp counter, */
    RETIREMENT_TRACED = 3,   /* or is traced by the parent */
    RETIREMENT_DONE = 4,     /* by the launcher: the event is closed; futex */
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
    PROCESS_REQUESTED = 1, /* waits for the launcher */
    PROCESS_TAKEN = 2,     /* the launcher examines the request */
    PROCESS_ANSWERED = 3,  /* see the verdict */
    PROCESS_WITHDRAWN = 4, /* the launcher was too slow: the program runs without samples */
};

enum end_exec {
    END_NO_EXEC = 0,
    END_EXEC = 1,
    END_EXEC_OF_OTHER = 2, /* of a program with the session of another recording */
};

struct process_slot {
    uint32_t state; /* enum process_state */
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
    uint32_t copy_of; /* 1 + verdict index of the parent of a forked child; 0: not forked */
    uint32_t lost_no_thread_slot; /* threads without a free thread slot */
    uint32_t threads_started;     /* raised by every new active thread */
    uint32_t threads_used;        /* no thread slot from this one on was ever claimed */
    uint32_t children_waited;     /* struct waited_child written so far */
    char name[16];                /* of the process' only thread */
    uint64_t children_ns;         /* rusage of the children that the process has waited for */
    uint64_t end_cpu_ns; /* CPU of this pid at exit() or execve() of its program; 0: neither */
    /* Programs run by another program (valgrind, qemu) see another vDSO than the kernel's, or
     * none. */
    uint64_t vdso_avma;      /* 0: see executable */
    uint64_t memory_avma;    /* of the struct process_memory */
    uint32_t end_is_exec;    /* enum end_exec: end_cpu_ns is that of execve() */
    uint32_t end_is_blocked; /* 1: the ending thread blocked the sampler's signal */
    uint32_t retirement;     /* enum retirement */
    uint32_t departure;      /* enum departure */
    uint32_t departure_pid;  /* of this process, or of a vfork child */
    char executable[372];    /* /proc/self/exe in the view of the process, if there is no vDSO */
};
_Static_assert(sizeof(struct process_slot) == 512, "whole cache lines");

/* A child waited for by the process. */
struct waited_child {
    uint64_t rusage_ns; /* with the rusage of the child's own children */
    uint32_t pid;       /* in the process' pid namespace; 0: unknown, a child that has ended */
    uint32_t number;    /* 1 + children_waited before this child; written last */
};

enum request_state {
    REQUEST_FREE = 0,
    REQUEST_CLAIMED = 1,   /* being filled in */
    REQUEST_MADE = 2,      /* waits for the launcher */
    REQUEST_TAKEN = 3,     /* the launcher examines the request */
    REQUEST_REPLIED = 4,   /* the process reads its own memory, and frees the request */
    REQUEST_ABANDONED = 5, /* the process no longer waits; the launcher frees the request */
    REQUEST_REFUSED = 6,   /* not recorded, for the reason; freed by the launcher */
};

enum request_reason {
    REQUEST_LATE = 0,      /* the launcher was too slow */
    REQUEST_UNSEEN = 1,    /* the launcher has replied, but not found the process */
    REQUEST_NO_MEMORY = 2, /* the process cannot make its memory */
};

/* Every process of the recording can write every request. */
struct join_request {
    uint32_t state;        /* enum request_state; futex */
    uint32_t pid;          /* in its own pid namespace */
    uint64_t memory_inode; /* of the process' memory */
    uint32_t memory_fd;    /* its descriptor in the process */
    uint32_t reason;       /* enum request_reason */
    uint32_t copy_of;      /* as in the process slot: finds a child in another pid namespace */
    uint32_t wants_size;   /* 1: the launcher gives the memory its size, and no answer */
    char name[16];         /* of the process' only thread */
    uint8_t unused[16];
};
_Static_assert(sizeof(struct join_request) == 64, "one cache line each");

enum thread_slot_state {
    THREAD_FREE = 0,
    THREAD_CLAIMED = 1, /* being filled in by its process */
    THREAD_ACTIVE = 2,
    THREAD_ENDED = 3, /* the launcher drains it, then frees it */
};

/* The histogram of the handler's run time in clock ticks: below 64, four buckets to an octave, and
 * the rest from 2^20 on. */
#define HANDLER_BUCKETS 58u
#define HANDLER_FIRST_TICKS UINT64_C(64)

/* Async-signal-safe. */
static inline uint32_t handler_bucket(uint64_t ticks)
{
    if (ticks < HANDLER_FIRST_TICKS)
        return 0;
    uint32_t octave = 57 - (uint32_t)__builtin_clzll(ticks);
    uint32_t bucket = 1 + 4 * octave + (uint32_t)(ticks >> (octave + 4) & 3);
    return bucket < HANDLER_BUCKETS ? bucket : HANDLER_BUCKETS - 1;
}

/* The ticks of a bucket are fewer; UINT64_MAX for the last bucket. */
static inline uint64_t handler_bucket_end(uint32_t bucket)
{
    if (bucket == 0)
        return HANDLER_FIRST_TICKS;
    return bucket < HANDLER_BUCKETS - 1 ? (uint64_t)(5 + (bucket - 1) % 4) << ((bucket - 1) / 4 + 4)
                                        : UINT64_MAX;
}

/* Causes of lost events of hooks. */
enum event_loss {
    EVENT_LOST_RING_FULL,
    EVENT_LOST_BUSY, /* the hook interrupted another one, in a signal handler of the program */
    EVENT_LOST_AWAY, /* the launcher was stopped or dead */
    EVENT_LOSSES
};

struct thread_slot {
    uint32_t state; /* enum thread_slot_state */
    uint32_t tid;
    uint64_t start_ticks;
    uint64_t produced;       /* records made, with or without room in the ring */
    uint64_t lost_ring_full; /* of these: no room in the ring */
    uint32_t lost_busy;
    uint32_t lost_events[EVENT_LOSSES]; /* records of other events than CPU time */
    uint64_t lost_crashing;             /* the program was handling a crash */
    uint64_t lost_away; /* the launcher was stopped or dead, and the ring not read */
    uint64_t merged;
    uint64_t lost_weight_ns;                 /* weight of the lost records */
    uint32_t handler_ticks[HANDLER_BUCKETS]; /* histogram of the handler's run time */
    uint64_t handler_max_ticks;
};
_Static_assert(sizeof(struct thread_slot) == 320, "whole cache lines");

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

/* The scheduler's account of a thread, as read by the thread. Every process of the recording can
 * write every account. */
struct account_note {
    uint32_t tid; /* written last; 0: none */
    uint32_t unused;
    uint64_t time_ns; /* CLOCK_MONOTONIC, after the read */
    char text[48];    /* of schedstat, a line; proc(5) */
};
_Static_assert(sizeof(struct account_note) == 64, "one cache line each");

struct requests {
    uint64_t magic;
    uint32_t version;
    uint32_t doorbell; /* futex: raised by a process in need of the launcher */
    uint64_t token;
    uint32_t lost_no_request;    /* processes without a free request */
    uint32_t lost_launcher_away; /* processes that made no request, as the launcher was away */
    uint32_t used;               /* no request from this one on was ever claimed */
    uint32_t has_tracers;        /* 1: a process has called ptrace() to trace, or to be traced */
    /* The heartbeat without a reply to a start: no further start waits before the next
     * heartbeat. */
    uint64_t deserted_ticks;
    uint8_t unused2[4096 - 48];
    struct join_request requests[SESSION_REQUESTS];
    struct account_note accounts[SESSION_ACCOUNTS]; /* number tid % SESSION_ACCOUNTS */
};
_Static_assert(offsetof(struct requests, requests) == 4096, "page aligned");
_Static_assert(offsetof(struct requests, accounts) % 4096 == 0, "page aligned");

struct thread_memory {
    struct thread_slot slot;
    struct ring_control control;
};

/* A short process with up to three threads uses the first page alone: a page costs 3 us. */
struct process_memory {
    struct process_slot process;
    struct process_verdict verdict;
    struct waited_child children[SESSION_CHILDREN]; /* number children_waited % SESSION_CHILDREN */
    struct thread_memory threads[SESSION_THREADS];
    uint8_t unused[4096 - (sizeof(struct process_slot) + sizeof(struct process_verdict) +
                           SESSION_CHILDREN * sizeof(struct waited_child)) %
                              4096];
    struct module_map maps[2];
    uint8_t rings[SESSION_THREADS][SESSION_RING_BYTES];
};
_Static_assert(offsetof(struct process_memory, threads[3]) <= 4096, "in the first page");
_Static_assert(offsetof(struct process_memory, maps) % 4096 == 0, "page aligned");
_Static_assert(offsetof(struct process_memory, rings) % 4096 == 0, "page aligned");

/* The name of a process' memory in /proc/PID/maps, and its seals. */
#define SESSION_MEMORY_NAME "rec-rings"
#define SESSION_MEMORY_SEALS 0x7 /* F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW */
/* Mapped by the process at first. */
#define SESSION_FIRST_BYTES offsetof(struct process_memory, rings[SESSION_FIRST_RINGS])

/* A process with a lower limit of address space is not recorded: tables and own memory would take
 * more than a third. */
#define SESSION_LEAST_SPACE_BYTES (UINT64_C(256) << 20)

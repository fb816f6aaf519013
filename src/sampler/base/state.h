/* SPDX-License-Identifier: MIT */
/* The sampler's state of its process and of the calling thread. Refers to no other unit. */
#pragma once

#include "unwind/step.h"
#include "wire/ring.h"
#include "wire/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SAMPLER_CACHE_ENTRIES 256u
#define SAMPLER_WORDS_MAX (UINT32_C(1) << 20) /* stack frames of a walk */

/* PC -> rule, of a map. */
struct rule_cache_entry {
    uint64_t pc;
    uint32_t rule;
    uint32_t map; /* struct walk's map_tag */
};
_Static_assert(sizeof(struct rule_cache_entry) == 16, "four to a cache line");

/* A mask of the kernel, and whether the program blocks the sampler's signal under this mask. */
#define SAMPLER_MASKS 8u
struct known_mask {
    uint64_t kernel;
    bool hides_block, is_known;
};

/* The type of pthread_create(); the function of thrd_create() returns an int. */
typedef void *thread_start(void *argument);

/* Use of a thread's ring and walk. */
enum busy {
    BUSY_NOT = 0,
    BUSY_HANDLER = 1,
    BUSY_HOOK = 2, /* a hook writes a record; a signal meanwhile is postponed */
};

/* Private state of a thread: written by the thread's hooks before the first signal, then by its
 * handler alone. Same index as its thread slot. The cache fills a page without use before the
 * first sample. */
struct thread_state {
    struct rule_cache_entry cache[SAMPLER_CACHE_ENTRIES];
    uint32_t busy; /* enum busy, taken by exchange: a raw clone thread shares its parent's TLS */
    uint32_t index;
    struct thread_slot *slot;
    struct ring ring;
    uint64_t stack_start_avma, stack_end_avma;
    uint64_t last_end_ticks, last_cost_ticks, usual_cost_ticks; /* the progress rule */
    uint64_t merged_ns;    /* weight of signals skipped since the last sample */
    uint64_t user_ns;      /* weight of user samples since the kernel timer last fired */
    int64_t unseen_ns;     /* CPU time seen by the kernel timer and not by samples */
    uint64_t accounted_ns; /* weight of all records, and of lost ones */
    uint32_t samples;
    int32_t timer;    /* -1: none */
    pthread_t handle; /* 0: the thread has not started yet */
    thread_start *start;
    void *argument;
    uint64_t stack_bytes;      /* requested at creation */
    uint64_t stack_given_avma; /* the program's own stack memory, or 0 */
    stack_t context_stacks[2]; /* of the last swapcontext(): to, from */
    uint32_t exit_rounds;
    bool skips_interval; /* the timer's present interval began before sampling did */
    bool hides_block;    /* the program blocks the sampler's signal here, the kernel does not */
    bool ever_hid;       /* or did so once */
    bool is_blocked;     /* the block is real, because of a foreign signal */
    struct known_mask masks[SAMPLER_MASKS];
    uint32_t next_mask;
    uint64_t usual_mask; /* set by the program, without additions for handlers */
    uint32_t astray;     /* samples with a frame pointer to no code of this map */
    uint32_t astray_map; /* struct walk's map_tag */
};

/* The process' side of the session. Written during the join (one thread), then constant; forked
 * children write it again before their second thread. */
struct process {
    const struct tables *tables; /* NULL: not part of a recording */
    struct requests *requests;
    /* Own memory; not mapped in a forked child, which must not follow the pointers below before it
     * has its own: process_is_followed() is false there. */
    struct process_memory *memory; /* NULL: none */
    struct process_slot *slot;
    const struct process_verdict *verdict;
    struct thread_state *threads; /* by index, from 1 on, sparse; NULL: never a second thread */
    uint8_t **later_rings;        /* rings not mapped at first, by index; wiped by fork */
    uint32_t pid, parent_pid;     /* when it joined; 0: never */
    uint32_t number;              /* 1 + the verdict's index; 0: not recorded */
    uint32_t joins;               /* joins of this process and its forked ancestors */
    enum engine engine;           /* ENGINE_NONE: the sampler is inert */
    int signal;                   /* the sampler's signal, 0 while inert */
    uint64_t forbidden;           /* calls forbidden by a filter of the program: see seccomp.h */
    uint32_t is_retired;          /* 1: see process_retire(); inherited by forked children */
    uint64_t main_stack_end_avma;
    uint64_t vdso_avma; /* 0: none, or hidden, as by valgrind */
    /* The inherited descriptors of tables and requests, and their files at that time. */
    struct inherited {
        uint32_t fd;
        uint64_t inode; /* 0: none */
    } inherited[2];
};
extern struct process process;
/* Of index 0: single-threaded processes need no further memory. */
extern struct thread_state first_thread;

/* The state of a claimed thread slot. */
static inline struct thread_state *thread_state_at(uint32_t index)
{
    return index ? &load_acquire(&process.threads)[index] : &first_thread;
}

/* Memory wiped by fork(), by index. The first word is 1 in the joined process, and 0 in its
 * forked children. */
enum {
    WIPED_ALIVE,
    WIPED_ACTION_LOCK,  /* see program_action.h */
    WIPED_ENVIRON_LOCK, /* see environ_refresh() */
};
extern uint32_t *process_alive;

extern __thread struct thread_state *thread_self;

/* True in a joined and sampled process. Async-signal-safe. */
static inline bool process_is_followed(void)
{
    return process.engine != ENGINE_NONE && load_relaxed(process_alive) == 1;
}

/* The same, and sampling has not ended early. Async-signal-safe. */
static inline bool process_is_sampled(void)
{
    return process_is_followed() && !load_relaxed(&process.is_retired) &&
           !load_relaxed(&process.verdict->is_handed_over);
}

/* The launcher's heart has not beaten for so long. Async-signal-safe. */
static inline bool launcher_is_silent(uint64_t now_ticks, uint64_t most_ticks)
{
    uint64_t heartbeat_ticks = load_relaxed(&process.tables->header.heartbeat_ticks);
    return now_ticks > heartbeat_ticks && now_ticks - heartbeat_ticks > most_ticks;
}

/* The rings have no reader, for now or for ever. Async-signal-safe. */
static inline bool launcher_is_away(uint64_t now_ticks)
{
    const struct tables_header *header = &process.tables->header;
    return load_relaxed(&header->stop) || launcher_is_silent(now_ticks, header->stale_ticks);
}

/* SPDX-License-Identifier: MIT */
#include "sampler/threads/threads.h"

#include "sampler/arch/arch.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/exit_time.h"
#include "sampler/process/launcher.h"
#include "sampler/process/own_memory.h"
#include "sampler/recorders/thread_lifecycle.h"
#include "sampler/signals/mask.h"
#include "sampler/threads/thread_stack.h"
#include "sampler/threads/timer.h"

#include <limits.h>
#include <stddef.h>

static pthread_key_t end_key;
static bool has_end_key;
static uint64_t default_stack_bytes;

static void thread_end(void *argument);

/* Not in the constructor: the functions of a sanitizer in the program crash before the sanitizer's
 * initialisation. The process has a single thread until the first call. */
static void prepare_once(void)
{
    static bool is_prepared;
    if (is_prepared)
        return;
    is_prepared = true;
    has_end_key = pthread_key_create(&end_key, thread_end) == 0;
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    default_stack_bytes = bytes;
}

/* Mapped for the second thread: large, and hardly touched. If two threads map the states at once,
 * the loser unmaps again. */
static bool has_states(uint32_t index)
{
    enum { BYTES = sizeof(struct thread_state) * SESSION_THREADS };
    if (index == 0 || load_acquire(&process.threads))
        return true;
    long mapped =
        own_syscall(MAP_PRIVATE, 0, BYTES, PROT_READ | PROT_WRITE, SECCOMP_MAP_PRIVATE, -1);
    if (raw_failed(mapped))
        return false;
    own_syscall(ADVISE, mapped, BYTES, MADV_DONTDUMP);
    struct thread_state *none = NULL;
    if (!__atomic_compare_exchange_n(&process.threads, &none, (struct thread_state *)mapped, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        own_syscall(UNMAP, mapped, BYTES);
    return true;
}

/* The cache and what belongs to it stay. */
static void reset_state(struct thread_state *thread, uint32_t index, uint8_t *ring_data)
{
    struct thread_memory *memory = &process.memory->threads[index];
    arch_zero(&thread->busy,
              offsetof(struct thread_state, astray) - offsetof(struct thread_state, busy));
    thread->index = index;
    thread->slot = &memory->slot;
    thread->ring = (struct ring){.control = &memory->control, .data = ring_data};
    thread->timer = -1;
    thread->skips_interval = load_relaxed(&process.tables->header.quiet);
}

struct thread_state *thread_claim(void)
{
    for (uint32_t index = 0; index < SESSION_THREADS; index++) {
        struct thread_memory *memory = &process.memory->threads[index];
        uint32_t *state = &memory->slot.state;
        if (load_relaxed(state) != THREAD_FREE || !swap_acq_rel(state, THREAD_FREE, THREAD_CLAIMED))
            continue;
        uint8_t *ring_data = has_states(index) ? own_memory_ring(index) : NULL;
        if (!ring_data) {
            store_release(state, THREAD_FREE);
            break;
        }
        raise_to(&process.slot->threads_used, index + 1);
        arch_zero(&memory->slot.tid, sizeof(memory->slot) - offsetof(struct thread_slot, tid));
        reset_state(thread_state_at(index), index, ring_data);
        return thread_state_at(index);
    }
    add_relaxed(&process.slot->lost_no_thread_slot, 1);
    return NULL;
}

void thread_unclaim(struct thread_state *thread)
{
    store_relaxed(&thread->ring.control->head, 0); /* the record of a creation */
    store_release(&thread->slot->state, THREAD_FREE);
}

void thread_finish(struct thread_state *thread)
{
    store_release(&thread->slot->state, THREAD_ENDED); /* publishes the last record */
}

void thread_bind(struct thread_state *thread)
{
    thread->slot->tid = (uint32_t)own_syscall(GETTID);
    thread->slot->start_ticks = arch_ticks();
    store_release(&thread->slot->state, THREAD_ACTIVE); /* publishes tid and start */
    uint32_t started = add_release(&process.slot->threads_started, 1);
    /* Slots of ended threads come back when the launcher looks; when it sleeps, they run out. */
    if (started % (SESSION_THREADS / 4) == SESSION_THREADS / 4 - 1)
        ring_doorbell();
    thread_self = thread;
    signal_fence();
}

/* A launcher that is stopped, or waits for a processor, comes back: so its existence is checked
 * before the silence is long enough to stop recording. The check is not possible from another pid
 * namespace. */
static bool launcher_is_gone(void)
{
    const struct tables_header *header = &process.tables->header;
    if (load_relaxed(&header->stop))
        return true;
    return launcher_is_silent(arch_ticks(), header->stale_ticks / 4) &&
           load_relaxed(&process.verdict->namespace) == 0 &&
           own_syscall(EXISTS, header->launcher_pid, 0) == -ESRCH;
}

struct begun {
    thread_start *start;
    void *argument;
};

static struct begun begin(struct thread_state *thread)
{
    struct begun begun = {thread->start, thread->argument};
    if (seccomp_forbids(CALLS_OF_THREAD)) { /* since it was created */
        thread_unclaim(thread);
        return begun;
    }
    thread_stack_set_range(thread);
    if (has_end_key)
        pthread_setspecific(end_key, thread);
    lifecycle_started(thread);
    thread_bind(thread);
    mask_hide(thread);
    timer_start(thread);
    return begun;
}

static void *thread_main(void *argument)
{
    struct begun begun = begin(argument);
    return begun.start(begun.argument);
}

static int c11_thread_main(void *argument)
{
    struct begun begun = begin(argument);
    return ((thrd_start_t)(void (*)(void))begun.start)(begun.argument);
}

static struct thread_state *claim_for_new_thread(void)
{
    if (!process_is_sampled() || seccomp_forbids(CALLS_OF_THREAD))
        return NULL;
    if (!launcher_is_gone())
        return thread_claim();
    /* The handler would return at once, but it still has to be called. */
    timer_stop_all();
    return NULL;
}

/* NULL: a thread without samples. */
static struct thread_state *prepare(const pthread_attr_t *attributes, thread_start *start,
                                    void *argument)
{
    struct thread_state *state = claim_for_new_thread();
    if (!state)
        return NULL;
    prepare_once();
    state->start = start;
    state->argument = argument;
    thread_stack_note(state, attributes, default_stack_bytes);
    lifecycle_created(state, attributes);
    return state;
}

/* A block is real while the new thread inherits it. */
static bool unhide_block(void)
{
    return thread_self && mask_unhide(thread_self);
}

static void created(struct thread_state *state, bool hides_block, bool is_running)
{
    if (hides_block)
        mask_hide(thread_self);
    if (!is_running)
        thread_unclaim(state);
}

/* A larger stack may be more than a limit allows. */
static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                  void *argument)
{
    pthread_attr_t larger;
    if (process_is_sampled() && thread_stack_enlarge(attributes, &larger) &&
        NEXT(pthread_create)(thread, &larger, start, argument) == 0)
        return 0;
    return NEXT(pthread_create)(thread, attributes, start, argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    struct thread_state *state = prepare(attributes, start, argument);
    if (!state)
        return create(thread, attributes, start, argument);
    bool hides_block = unhide_block();
    int err = create(thread, attributes, thread_main, state);
    created(state, hides_block, err == 0);
    return err;
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    struct thread_state *state = prepare(NULL, (thread_start *)(void (*)(void))start, argument);
    if (!state)
        return NEXT(thrd_create)(thread, start, argument);
    bool hides_block = unhide_block();
    int result = NEXT(thrd_create)(thread, c11_thread_main, state);
    created(state, hides_block, result == thrd_success);
    return result;
}

/* CPU time of the calling thread that no record and no counter holds yet. */
static uint64_t unaccounted_ns(const struct thread_state *thread)
{
    uint64_t used_ns = clock_ns(THREAD_CLOCK);
    uint64_t accounted_ns = thread->accounted_ns - thread->merged_ns;
    return used_ns > accounted_ns ? used_ns - accounted_ns : 0;
}

static void record_exit(struct thread_state *thread)
{
    uint64_t position;
    uint32_t bytes = sizeof(struct record_header) + sizeof(struct record_exit);
    uint8_t *record = ring_reserve(&thread->ring, bytes, &position);
    if (!record)
        return;
    struct record_header *header = (struct record_header *)(void *)record;
    struct record_exit *last = (struct record_exit *)(void *)(header + 1);
    *header = (struct record_header){.bytes = bytes,
                                     .event = RECORD_EVENT_CPU,
                                     .kind = RECORD_EXIT,
                                     .ticks = arch_ticks(),
                                     .weight_ns = unaccounted_ns(thread)};
    last->start_avma = (uint64_t)(uintptr_t)thread->start;
    own_syscall(GET_NAME, PR_GET_NAME, last->name);
    ring_commit(&thread->ring, position, bytes);
}

/* Runs as the destructor of a thread-specific value: again and again, to be the last one. */
static void thread_end(void *argument)
{
    struct thread_state *thread = argument;
    if (load_relaxed(process_alive) != 1 || thread_self != thread)
        return;
    if (++thread->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, thread);
        return;
    }
    mask_unhide(thread);
    thread_self = NULL;
    signal_fence();
    timer_stop(thread);
    if (process_is_sampled() && !seccomp_forbids(CALL_BIT(THREAD_CLOCK) | CALL_BIT(GET_NAME)))
        record_exit(thread);
    account_note();
    thread_finish(thread);
}

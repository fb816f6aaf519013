/* SPDX-License-Identifier: MIT */
#include "sampler/recorders/thread_lifecycle.h"

#include "sampler/recorders/hook_record.h"

#include <dlfcn.h>
#include <stddef.h>

#define NEXT_SYMBOLS_OF_THREADS(X) \
    X(pthread_join)                \
    X(pthread_tryjoin_np)          \
    X(pthread_timedjoin_np)        \
    X(pthread_clockjoin_np)        \
    X(thrd_join)                   \
    X(pthread_detach)              \
    X(thrd_detach)                 \
    X(pthread_setname_np)

enum next_of_threads {
#define INDEX(name) AT_##name,
    NEXT_SYMBOLS_OF_THREADS(INDEX)
#undef INDEX
        NEXT_OF_THREADS
};

static const char *const names[NEXT_OF_THREADS] = {
#define NAME(name) #name,
    NEXT_SYMBOLS_OF_THREADS(NAME)
#undef NAME
};

static void *found[NEXT_OF_THREADS];

/* None of these functions may be called in a signal handler: dlsym() at the first call is fine. */
static void *next_of(enum next_of_threads index)
{
    void *function = load_relaxed(&found[index]);
    if (function)
        return function;
    function = dlsym(RTLD_NEXT, names[index]);
    store_relaxed(&found[index], function);
    return function;
}

#define NEXT_OF(name) ((__typeof__(&name))next_of(AT_##name))

static bool is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &state);
    return state == PTHREAD_CREATE_DETACHED;
}

/* Until the new thread writes its handle, 1 stands for "has a handle". */
void lifecycle_created(struct thread_state *created, const pthread_attr_t *attributes)
{
    struct thread_state *creator = thread_self;
    const struct record_object object = {
        .avma = is_detached(attributes) ? 0 : 1,
        .code_avma = (uint64_t)(uintptr_t)created->start,
        .number = creator ? creator->index : RECORD_NO_SLOT,
    };
    hook_record_stack(&created->ring, RECORD_EVENT_THREAD_CREATE, &object);
}

/* By the private position: contents of shared memory lead nowhere. */
void lifecycle_started(struct thread_state *thread)
{
    struct record_object *object;
    thread->handle = pthread_self();
    if (thread->ring.head < sizeof(*object))
        return;
    object =
        (struct record_object *)(void *)(thread->ring.data + thread->ring.head - sizeof(*object));
    if (object->avma)
        object->avma = (uint64_t)thread->handle;
}

void lifecycle_named(const char *name)
{
    struct thread_state *thread = thread_self;
    if (thread)
        hook_record_name(thread->index, name);
}

static int joined(pthread_t thread, int result)
{
    const struct record_object object = {.avma = (uint64_t)thread};
    if (result == 0 && thread_self)
        hook_record_stack(&thread_self->ring, RECORD_EVENT_THREAD_JOIN, &object);
    return result;
}

static int detached(pthread_t thread, int result)
{
    const struct record_object object = {.avma = (uint64_t)thread};
    if (result == 0 && thread_self)
        hook_record_stack(&thread_self->ring, RECORD_EVENT_THREAD_DETACH, &object);
    return result;
}

int pthread_join(pthread_t thread, void **result)
{
    return joined(thread, NEXT_OF(pthread_join)(thread, result));
}

int pthread_tryjoin_np(pthread_t thread, void **result)
{
    return joined(thread, NEXT_OF(pthread_tryjoin_np)(thread, result));
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    return joined(thread, NEXT_OF(pthread_timedjoin_np)(thread, result, until));
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                         const struct timespec *until)
{
    return joined(thread, NEXT_OF(pthread_clockjoin_np)(thread, result, clock, until));
}

int thrd_join(thrd_t thread, int *result)
{
    return joined(thread, NEXT_OF(thrd_join)(thread, result));
}

int pthread_detach(pthread_t thread)
{
    return detached(thread, NEXT_OF(pthread_detach)(thread));
}

int thrd_detach(thrd_t thread)
{
    return detached(thread, NEXT_OF(thrd_detach)(thread));
}

/* A thread that has not started yet has no handle here: the launcher reads its name later. */
int pthread_setname_np(pthread_t thread, const char *name)
{
    int result = NEXT_OF(pthread_setname_np)(thread, name);
    if (result != 0 || !process_is_sampled())
        return result;
    if (thread == pthread_self()) {
        lifecycle_named(name);
        return result;
    }
    uint32_t used = load_relaxed(&process.slot->threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++)
        if (load_acquire(&process.memory->threads[i].slot.state) == THREAD_ACTIVE &&
            thread_state_at(i)->handle == thread)
            hook_record_name(i, name);
    return result;
}

/* SPDX-License-Identifier: MIT */
/*
 * A creation has two keys, for the records that follow:
 *
 *     create(by, tid, handle) ─┬─ (process, tid)    ◀── FORK: thread
 *                              └─ (process, handle) ◀── join, detach
 *
 * An action before the FORK waits for the thread until thread_lives_finish().
 */
#include "convert/load/thread_lives.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

enum key_kind { KEY_TID, KEY_HANDLE };

struct key {
    uint32_t process;
    uint32_t kind; /* enum key_kind */
    uint64_t value;
};

int thread_lives_init(struct thread_lives *life, const struct events *events)
{
    *life =
        (struct thread_lives){.profile = events->profile, .events = events, .keys = intern_new()};
    return life->keys ? 0 : -ENOMEM;
}

void thread_lives_free(struct thread_lives *life)
{
    intern_free(life->keys);
    free(life->creations);
    free(life->waiting);
    *life = (struct thread_lives){0};
}

/* PROFILE_LIVES: an event of another recorder. */
static enum profile_life kind_of(enum event_role role)
{
    return role == EVENT_THREAD_CREATE   ? PROFILE_THREAD_CREATED
           : role == EVENT_THREAD_JOIN   ? PROFILE_THREAD_JOINED
           : role == EVENT_THREAD_DETACH ? PROFILE_THREAD_DETACHED
                                         : PROFILE_LIVES;
}

/* The index of the latest creation with this key; PROFILE_NONE: none. */
static uint32_t find_creation(const struct thread_lives *life, struct key key)
{
    uint32_t id = intern_find(life->keys, &key, sizeof(key));
    return id < life->count ? life->creations[id] : PROFILE_NONE;
}

static int set_creation(struct thread_lives *life, struct key key, uint32_t creation)
{
    uint32_t id = intern_add(life->keys, &key, sizeof(key));
    if (id == INTERN_NONE)
        return -ENOMEM;
    if (id == life->count && !ARRAY_PUSH(life->creations, life->count, life->capacity))
        return -ENOMEM;
    life->creations[id] = creation;
    return 0;
}

static struct profile_life_event *add(struct thread_lives *life, enum profile_life kind,
                                      uint64_t time_ns)
{
    struct profile *profile = life->profile;
    struct profile_life_event *added =
        ARRAY_PUSH(profile->life_events, profile->life_event_count, profile->life_event_capacity);
    if (added)
        *added = (struct profile_life_event){.kind = kind,
                                             .time_ns = time_ns,
                                             .thread = PROFILE_NONE,
                                             .by = PROFILE_NONE,
                                             .call = PROFILE_NONE,
                                             .name = PROFILE_NONE};
    return added;
}

/* The thread is known at its FORK. A thread created as detached has no handle. */
static int take_creation(struct thread_lives *life, const struct perfdata_event *event,
                         uint32_t process, struct profile_life_event *created)
{
    uint32_t index = (uint32_t)(created - life->profile->life_events);
    created->is_detached = event->data_avma == 0;
    int err = set_creation(life, (struct key){process, KEY_TID, event->weight}, index);
    if (err == 0 && event->data_avma)
        err = set_creation(life, (struct key){process, KEY_HANDLE, event->data_avma}, index);
    return err;
}

/* A thread can be detached before its first instruction, hence before its FORK. */
static int take_action(struct thread_lives *life, struct key key, struct profile_life_event *added)
{
    uint32_t creation = find_creation(life, key);
    if (creation == PROFILE_NONE)
        return 0;
    added->thread = life->profile->life_events[creation].thread;
    if (added->thread != PROFILE_NONE)
        return 0;
    struct life_waiting *waiting =
        ARRAY_PUSH(life->waiting, life->waiting_count, life->waiting_capacity);
    if (!waiting)
        return -ENOMEM;
    *waiting = (struct life_waiting){(uint32_t)(added - life->profile->life_events), creation};
    return 0;
}

int thread_lives_sample(struct thread_lives *life, const struct perfdata_event *event,
                        enum event_role role, const struct profile_sample *sample)
{
    enum profile_life kind = kind_of(role);
    if (kind == PROFILE_LIVES)
        return 0;
    uint32_t process = life->profile->threads[sample->thread].process;
    struct profile_life_event *added = add(life, kind, event->time_ns);
    if (!added)
        return -ENOMEM;
    added->by = sample->thread;
    added->call = sample->call;
    if (kind == PROFILE_THREAD_CREATED)
        return take_creation(life, event, process, added);
    return take_action(life, (struct key){process, KEY_HANDLE, event->data_avma}, added);
}

void thread_lives_fork(struct thread_lives *life, uint32_t thread)
{
    const struct profile_thread *of = &life->profile->threads[thread];
    uint32_t creation = find_creation(life, (struct key){of->process, KEY_TID, (uint64_t)of->tid});
    struct profile_life_event *created =
        creation == PROFILE_NONE ? NULL : &life->profile->life_events[creation];
    if (created && created->thread == PROFILE_NONE)
        created->thread = thread;
}

static bool is_recorded(const struct thread_lives *life)
{
    for (size_t i = 0; i < life->events->count; i++)
        if (kind_of(event_role_of(life->events->items[i].attr)) != PROFILE_LIVES)
            return true;
    return false;
}

void thread_lives_finish(struct thread_lives *life)
{
    struct profile_life_event *events = life->profile->life_events;
    for (size_t i = 0; i < life->waiting_count; i++)
        events[life->waiting[i].event].thread = events[life->waiting[i].creation].thread;
    life->profile->has_life_events = is_recorded(life);
}

/* Only of recordings with this recorder: names of others have no exact time. */
static int add_comm(struct thread_lives *life, enum profile_life kind, uint32_t thread,
                    uint64_t time_ns)
{
    if (!is_recorded(life))
        return 0;
    struct profile_life_event *added = add(life, kind, time_ns);
    if (!added)
        return -ENOMEM;
    added->thread = thread;
    added->name = life->profile->threads[thread].name;
    return 0;
}

int thread_lives_name(struct thread_lives *life, uint32_t thread, uint64_t time_ns)
{
    return add_comm(life, PROFILE_THREAD_NAMED, thread, time_ns);
}

int thread_lives_exec(struct thread_lives *life, uint32_t thread, uint64_t time_ns)
{
    return add_comm(life, PROFILE_PROCESS_EXECUTED, thread, time_ns);
}

/* SPDX-License-Identifier: MIT */
/*
 * From the events of the recorder thread-lifecycle to the life events of the profile.
 *
 *     thread-create   by the creator: handle (0: created as detached), tid of the new thread
 *     FORK            the new thread
 *     COMM            names
 *     thread-join     by the joiner: handle
 *     thread-detach   by the caller: handle
 *
 * A handle is a pthread_t, used again after a join: a handle belongs to the latest creation. Fed in
 * the order of time; ends are in the profile's threads.
 */
#pragma once

#include "base/containers/intern.h"
#include "convert/load/events/events.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct life_waiting {         /* a join or detach before the FORK of the thread */
    uint32_t event, creation; /* indexes in life_events */
};

struct thread_lives {
    struct profile *profile;
    const struct events *events; /* borrowed */
    struct intern *keys;         /* (process, tid) and (process, handle) */
    uint32_t *creations;         /* owned; by key: index of the latest creation in life_events */
    size_t count, capacity;
    struct life_waiting *waiting; /* owned */
    size_t waiting_count, waiting_capacity;
};

/* 0 or -ENOMEM. */
int thread_lives_init(struct thread_lives *life, const struct events *events);
void thread_lives_free(struct thread_lives *life);

/* A sample of an event of threads, with its call. 0 or -ENOMEM. */
int thread_lives_sample(struct thread_lives *life, const struct perfdata_event *event,
                        enum event_role role, const struct profile_sample *sample);
/* The new thread of a FORK. */
void thread_lives_fork(struct thread_lives *life, uint32_t thread);
/* After the last record: marks the profile of a recording with this recorder. */
void thread_lives_finish(struct thread_lives *life);

/* A thread has got another name, or has executed a program. 0 or -ENOMEM. */
int thread_lives_name(struct thread_lives *life, uint32_t thread, uint64_t time_ns);
int thread_lives_exec(struct thread_lives *life, uint32_t thread, uint64_t time_ns);

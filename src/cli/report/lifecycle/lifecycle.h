/* SPDX-License-Identifier: MIT */
/*
 * The output of `rec report --lifecycle`, as text or JSON: the threads with a recorded creation and
 * their fate. A thread that has ended, and is neither joined nor detached, keeps its stack mapped.
 */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

enum lifecycle_fate {
    LIFECYCLE_NEVER_JOINED, /* ended, neither joined nor detached */
    LIFECYCLE_ALIVE,        /* until the end of the process, an exec, or the end of the recording */
    LIFECYCLE_JOINED,
    LIFECYCLE_DETACHED,
    LIFECYCLE_FATES,
};
const char *lifecycle_fate_name(enum lifecycle_fate fate);

struct lifecycle_thread {
    uint32_t thread; /* index in the profile */
    enum lifecycle_fate fate;
    /* NULL: none recorded; `created` is always set */
    const struct profile_life_event *created, *joined, *detached;
    uint64_t last_cpu_ns; /* time of the last CPU sample, or of the creation */
    uint64_t cpu_ns;
};

struct lifecycle_exec {
    uint32_t process;
    uint64_t time_ns;
};

struct lifecycle {
    const struct profile *profile;    /* borrowed */
    struct lifecycle_thread *threads; /* by fate, creator's stack, creation; owned */
    size_t count;
    size_t fates[LIFECYCLE_FATES]; /* threads of each fate */
    uint32_t *first_name; /* by thread: index of the first NAMED in life_events; PROFILE_NONE */
    uint32_t *next_name;  /* by life event: of the same thread; PROFILE_NONE: none; both owned */
    struct lifecycle_exec *execs; /* by process, then time; owned */
    size_t exec_count;
    size_t unmatched; /* joins and detaches of threads without a recorded creation */
};

/* The profile is resolved. 0 or -ENOMEM. */
int lifecycle_build(struct lifecycle *lifecycle, const struct profile *profile);
void lifecycle_free(struct lifecycle *lifecycle);

/* The functions of a call's stack, innermost first; returns their number, at most `room`. */
size_t lifecycle_functions(const struct profile *profile, uint32_t call, const char **names,
                           size_t room);

void lifecycle_print(const struct lifecycle *lifecycle, const char *path); /* to standard output */
/* A JSON object, "version": 1. */
void lifecycle_json(const struct lifecycle *lifecycle, const char *path, struct buffer *out);

/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU samples: the reason of each, and samples joined to waits.
 *
 * The innermost frame of an off-CPU sample is synthetic and names the reason:
 *
 *     [waiting: lock]   waits for what the text names
 *     [waiting]         waits, for an unknown reason
 *     [runnable]        ready to run, without a processor
 *     [short waits]     the sum of waits too short for a stack of their own
 *
 * The time of an off-CPU sample is the start of its interval, the weight the length. A long wait is
 * recorded as several samples, end to end, with equal calls:
 *
 *     samples   |--- a ---|--- a ---|-- a --|       |-- b --|
 *     waits     |----------- a -------------|       |-- b --|
 *
 * Samples of sums ([short waits], [runnable] of a second) and shares of sums have a length that was
 * not measured: such a sample may lie between the samples of a wait, and reach into the next wait.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

#define WAITS_UNKNOWN "[waiting]"
#define WAITS_RUNNABLE "[runnable]"
#define WAITS_SHORT "[short waits]"

enum profile_wait_kind {
    PROFILE_WAIT_UNKNOWN, /* no synthetic leaf, or one without a reason */
    PROFILE_WAITING,
    PROFILE_RUNNABLE,
    PROFILE_SHORT_WAITS,
    PROFILE_WAIT_KINDS,
};

struct profile_wait_reason {
    enum profile_wait_kind kind;
    char text[32]; /* "lock", "runnable", "short waits", "unknown" */
};

/* By the name of the innermost frame's module. */
struct profile_wait_reason wait_reason_of_name(const char *name);
/* By a call; PROFILE_NONE: unknown. */
struct profile_wait_reason wait_reason_of_call(const struct profile *profile, uint32_t call);
/* Whether a module is one of the leaves above. */
bool wait_reason_is_lib(const struct profile *profile, uint32_t lib);

struct profile_wait {
    uint64_t start_ns, length_ns;
    uint32_t thread;
    uint32_t call; /* PROFILE_NONE: no stack */
};

static inline uint64_t profile_wait_end(const struct profile_wait *wait)
{
    return wait->start_ns + wait->length_ns;
}

/* The waits of a thread, in order. Needs samples with times. */
struct profile_waits {
    struct sample_reader samples;
    bool has_sample; /* samples.sample is the next one */
    /* Of the latest wait with several samples: its call, the next of its samples, and its end. */
    uint32_t call;
    uint64_t next_ns, end_ns;
};

struct profile_waits profile_waits_of(const struct profile *profile, uint32_t thread);
/* False at the end. */
bool profile_waits_next(struct profile_waits *waits, struct profile_wait *wait);

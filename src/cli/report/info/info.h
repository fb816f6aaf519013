/* SPDX-License-Identifier: MIT */
/* The output of `rec info`, as text or JSON: a capture without stacks. */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct info_share { /* of a thread, a process or a lib */
    uint64_t samples;
    uint64_t weight; /* of the main event */
};

struct info {
    const struct profile *profile; /* borrowed */
    struct info_share *processes;  /* by index in the tables of the profile */
    struct info_share *threads;
    struct info_share *libs; /* by the leaf of the sample */
    uint64_t *event_samples;
};

/* The profile need not be resolved. 0 or -ENOMEM. */
int info_build(struct info *info, const struct profile *profile);
void info_free(struct info *info);

/* Of a thread. With switch records the CPU time is the exact time on a processor; without, the sum
 * of the samples. waiting_ns and runnable_ns: 0 without off-CPU time. */
struct info_times {
    uint64_t cpu_ns, waiting_ns, runnable_ns, lifetime_ns;
};
struct info_times info_times(const struct profile *profile, uint32_t thread);

void info_print(const struct info *info, const char *path);

/* A JSON object, "version": 1. */
void info_json(const struct info *info, const char *path, struct buffer *out);

/* 40 hexadecimal digits at most; "" for none. */
struct info_build_id {
    char text[41];
};
struct info_build_id info_build_id(const struct profile_lib *lib);

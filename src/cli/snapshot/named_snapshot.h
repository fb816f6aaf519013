/* SPDX-License-Identifier: MIT */
/* A snapshot of a process with the names of its frames. */
#pragma once

#include "base/text/error.h"
#include "cli/options/snapshot_options.h"
#include "profile/profile.h"
#include "record/attach/snapshot/snapshot.h"

struct named_snapshot {
    struct snapshot snapshot;
    struct profile *profile;
    uint32_t *stacks; /* for each thread, in the profile; PROFILE_NONE: none */
};

/* Threads with equal stacks that wait for the same. */
struct stack_group {
    const struct named_snapshot *named;
    const uint32_t *members; /* indices of threads */
    size_t count;
};

/* Reads the process, or with pid 0 the core file of the options, and finds the names. To be freed
 * by named_snapshot_free(), also after an error. */
int named_snapshot_take(struct named_snapshot *named, pid_t pid,
                        const struct snapshot_options *options, struct error *error);
void named_snapshot_free(struct named_snapshot *named);

/* The thread's stack without its part in the kernel. */
uint32_t named_snapshot_user_stack(const struct named_snapshot *named, size_t thread);

/* The innermost function; of a waiting thread, the caller of the C library. PROFILE_NONE: no
 * stack. */
uint32_t named_snapshot_function(const struct named_snapshot *named, size_t thread);

/* What the thread waits for: "lock 0x7f12, held by thread 12 (worker)"; "runs". */
struct wait_text {
    char text[320]; /* not escaped */
};
struct wait_text named_snapshot_wait(const struct named_snapshot *named, size_t thread);

/* Why the thread was read without the requested stop; NULL: no such problem. */
const char *named_snapshot_stop_problem(const struct snapshot_thread *thread);

/* Calls print() for each group, in the order of the first members. 0 or -ENOMEM. */
int named_snapshot_groups(const struct named_snapshot *named,
                          void (*print)(void *context, const struct stack_group *group),
                          void *context);

/* SPDX-License-Identifier: MIT */
/*
 * Jobs that read what nobody vouches for, each in a process of its own: forked, confined (see confine.h),
 * its answer read from a pipe. A job that crashes, hangs or asks for too much takes nothing with it but
 * its own answer.
 *
 *     this process ─ fork ─▶ job 0 ─ bytes ─▶ pipe ─▶ done(0)
 *                  ─ fork ─▶ job 1 ─ crashes ───────▶ failed(1, "crashed")
 *                  ─ fork ─▶ job 2 …      as many at once as there are processors
 */
#pragma once

#include "base/buffer.h"
#include "base/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Descriptors that a worker has beside 0 to 2, which are /dev/null; all others are closed. */
struct worker_fds {
    int answer;      /* becomes CONFINE_ANSWER_FD */
    int rules;       /* of confine_rules() */
    const int *kept; /* all above CONFINE_RULES_FD, in rising order; they keep their numbers */
    size_t kept_count;
};

enum { WORKER_UNCONFINED_STATUS = 4 };

struct workers {
    size_t job_count;
    /* In the worker: the answer goes to out. Nothing else that it does is seen outside. */
    void (*run)(void *context, size_t job, struct buffer *out);
    /* In this process, each once, in the order in which jobs end. why: "crashed", … */
    void (*done)(void *context, size_t job, const struct buffer *answer);
    void (*failed)(void *context, size_t job, const char *why);
    /* In this process, once, while the first jobs run: what it has to do anyway. May be NULL. */
    void (*meanwhile)(void *context);
    void *context;
    struct confine_limits limits;
    struct worker_fds fds; /* what is kept; the rest is set for each */
    unsigned wall_s;       /* a job that takes longer is killed */
    size_t answer_limit_bytes;
};

/* How many run at once. */
size_t workers_at_once(void);

/* Memory and time that suffice for every file seen so far. */
void workers_set_limits(struct workers *workers);

/* Only while this process has one thread. Jobs that cannot be started fail. */
void workers_run(const struct workers *workers);

/* For other kinds of workers: confines the child that calls it, before anything else. 0 or a negative errno. */
int worker_confine(const struct confine_limits *limits, const struct worker_fds *fds, pid_t parent);

/* Waits for a child to end. Returns its wait status; 0: somebody else has it. */
int worker_reap(pid_t pid);

/* Behind an answer stands its size, which is taken away. False: that is not all of it. */
bool worker_answer_is_whole(struct buffer *answer);

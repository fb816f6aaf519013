/* SPDX-License-Identifier: MIT */
/*
 * Jobs that parse untrusted files, each in a process of its own: forked, confined (see confine.h),
 * its result read from a pipe. A job that crashes, hangs or exceeds a limit loses only its own
 * result.
 *
 *     this process ─ fork ─▶ job 0 ─ bytes ─▶ pipe ─▶ done(0)
 *                  ─ fork ─▶ job 1 ─ crashes ───────▶ failed(1, "crashed")
 *                  ─ fork ─▶ job 2 …      as many in parallel as processors
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/sandbox/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Open descriptors of a worker besides 0 to 2 (/dev/null); all others are closed. */
struct worker_fds {
    int answer;      /* becomes CONFINE_ANSWER_FD */
    int rules;       /* of confine_rules() */
    const int *kept; /* all above CONFINE_RULES_FD, in rising order; they keep their numbers */
    size_t kept_count;
};

enum { WORKER_UNCONFINED_STATUS = 4 };

struct workers {
    size_t job_count;
    /* Called in the worker; writes the result to out. Nothing else is visible to the parent. */
    void (*run)(void *context, size_t job, struct buffer *out);
    /* In this process, each once, in the order in which jobs end. why: "crashed", … */
    void (*done)(void *context, size_t job, const struct buffer *answer);
    void (*failed)(void *context, size_t job, const char *why);
    /* Before a job starts; true: the job is left out, and none of the above is called. May be
     * NULL. */
    bool (*is_left_out)(void *context, size_t job);
    void *context;
    struct confine_limits limits;
    struct worker_fds fds; /* only `kept`; the rest is set for each worker */
    unsigned wall_s;       /* time limit of a job; then the worker is killed */
    size_t answer_limit_bytes;
};

/* How many run at once. */
size_t workers_at_once(void);

/* Sufficient for all files observed so far. */
void workers_set_limits(struct workers *workers);

struct worker {
    pid_t pid; /* until it was reaped */
    int fd;    /* -1: a free place */
    size_t job;
    uint64_t end_ms; /* deadline */
    struct buffer answer;
    const char *trouble; /* reason for SIGKILL; NULL: not killed */
};

enum { WORKERS_MAX = 16 }; /* in parallel */

struct worker_pool {
    const struct workers *workers;
    struct worker places[WORKERS_MAX];
    size_t place_count, busy_count;
    size_t next_job;
    int rules_fd;
};

/* Starts as many jobs as run in parallel; workers is borrowed until workers_finish(). The process
 * must be single-threaded. Jobs that cannot be started fail. */
void workers_start(struct worker_pool *pool, const struct workers *workers);

/* Starts the other jobs, and waits for the results of all. */
void workers_finish(struct worker_pool *pool);

/* Waits for the end of the processes, later than their results: a process takes up to 0.5 ms for
 * it. A pool of zeros has none. */
void workers_reap(struct worker_pool *pool);

/* All three. */
void workers_run(const struct workers *workers);

/* For other kinds of workers: confines the calling child; call first. 0 or a negative errno. */
int worker_confine(const struct confine_limits *limits, const struct worker_fds *fds, pid_t parent);

/* In a worker: "took too long" after this CPU time from now on; 0: no limit but the limits of the
 * worker. For calls into libraries that may never return. No effect in other processes. */
void worker_end_after(uint64_t cpu_ns);

/* Waits for a child to end. Returns its wait status; 0: already reaped elsewhere. */
int worker_reap(pid_t pid);

/* Removes the trailing size field and compares. False: the result is incomplete. */
bool worker_answer_is_whole(struct buffer *answer);

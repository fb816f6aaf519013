/* SPDX-License-Identifier: MIT */
/*
 * A worker as those of workers.h that is there before all is known that it will be asked: it does its part while this
 * process finds out the rest. It is forked while this process is small, which a fork takes its time by.
 *
 *     this process ─ fork ─▶ worker
 *                  ─ message, message, … ─▶ take() of each
 *                  ─ that was all ─▶ finish() ─ answer ─▶
 *
 * No message is waited for: a worker that is behind is told later. One that crashes, hangs or asks for too much has no
 * answer, and whoever wanted it does without.
 */
#pragma once

#include "base/buffer.h"
#include "base/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIDE_WORKER_MESSAGE_BYTES = 4096 }; /* at most */

struct side_work {
    /* In the worker; nothing that they do is seen outside, but for the answer. */
    void (*take)(void *context, const void *message, size_t size);
    void (*finish)(void *context, struct buffer *answer);
    void *context;
    struct confine_limits limits;
    unsigned wall_s; /* from where it is waited for first */
    size_t answer_limit_bytes;
};

struct side_worker {
    pid_t pid; /* 0: there is none, or it has failed */
    int fd;
    unsigned wall_s;
    uint64_t end_ms; /* 0: nobody has waited for it yet */
    size_t answer_limit_bytes;
};

/* Only while this process has one thread. Where none can be started there is none. */
void side_worker_start(struct side_worker *worker, const struct side_work *work);

/* Whether the message, of a byte or more, was taken; false: it would have to be waited for, or there is no worker. */
bool side_worker_tell(struct side_worker *worker, const void *message, size_t size);

/* Waits until a message can be told, or there is no worker any more. */
void side_worker_await(struct side_worker *worker);

/* Nothing more will be told. */
void side_worker_told_all(struct side_worker *worker);

/* Waits for all of the answer, once, and appends it; false: there is none, and what was appended means nothing. The worker
 * is there until it is stopped. */
bool side_worker_answer(struct side_worker *worker, struct buffer *answer);

/* Whatever it does. */
void side_worker_stop(struct side_worker *worker);

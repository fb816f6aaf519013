/* SPDX-License-Identifier: MIT */
/*
 * A sandboxed subprocess that receives its input incrementally and works in parallel with this
 * process. Forked early: the cost of fork() grows with the parent's memory.
 *
 *     this process ─ fork ─▶ subprocess
 *                  ─ message, message, … ─▶ take() for each
 *                  ─ end of messages ─▶ finish() ─ result ─▶
 *
 * Sending never blocks: if the socket is full, the caller retries later. A subprocess that crashes,
 * hangs or exceeds a limit yields no result, and the caller continues without a result.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/sandbox/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SUBPROCESS_MESSAGE_BYTES = 4096 }; /* at most */

struct subprocess_work {
    /* Called in the subprocess; only the result is visible to the parent. */
    void (*take)(void *context, const void *message, size_t size);
    void (*finish)(void *context, struct buffer *answer);
    void *context;
    struct confine_limits limits;
    unsigned wall_s; /* counted from the parent's first wait */
    size_t answer_limit_bytes;
};

struct subprocess {
    pid_t pid; /* 0: not started, or failed */
    int fd;
    unsigned wall_s;
    uint64_t end_ms; /* 0: no wait so far */
    size_t answer_limit_bytes;
};

/* The process must be single-threaded. On failure, pid stays 0. */
void subprocess_start(struct subprocess *worker, const struct subprocess_work *work);

/* Sends a message of at least one byte. False: the socket is full, or the subprocess is gone. */
bool subprocess_send(struct subprocess *worker, const void *message, size_t size);

/* Waits until the socket takes a message, or the subprocess is gone. */
void subprocess_wait_writable(struct subprocess *worker);

/* Signals the end of messages. */
void subprocess_end_input(struct subprocess *worker);

/* Waits for the complete result and appends it to answer; call once. False: no result, the
 * appended bytes are invalid. The subprocess exists until subprocess_stop(). */
bool subprocess_receive(struct subprocess *worker, struct buffer *answer);

/* Kills and reaps the subprocess in any state. */
void subprocess_stop(struct subprocess *worker);

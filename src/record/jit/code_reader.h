/* SPDX-License-Identifier: MIT */
/*
 * Reads machine code of other processes. A read can hang: a page may be missing, and the program
 * may serve its page faults itself (userfaultfd(2)). So a thread reads, and the caller waits for a
 * limited time. While a read hangs, all others fail.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CODE_READ_BYTES_MAX = 128 << 10 };

struct code_reader; /* opaque; for one thread */

/* NULL: no memory, or no thread. */
struct code_reader *code_reader_open(void);
/* Leaves a thread with a hanging read to itself. NULL is fine. */
void code_reader_close(struct code_reader *reader);

/* The bytes from avma on, at most CODE_READ_BYTES_MAX, valid until the next read; the count is the
 * requested one. NULL: not readable, or not in time. */
const uint8_t *code_reader_read(struct code_reader *reader, pid_t pid, uint64_t avma, size_t bytes);

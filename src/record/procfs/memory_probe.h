/* SPDX-License-Identifier: MIT */
/*
 * A read before looks at a process, with a time limit. A thread may hang in the kernel with the
 * mmap lock held, as in mmap() of a file on a dead file server. Then all readers of the process'
 * memory hang. The read of a byte of /proc/PID/cmdline takes the same lock, and ends when rec ends;
 * process_vm_readv(2) cannot be killed there. After the limit, another thread does the looks:
 *
 *     off-CPU thread   probe, looks ── probe, looks ── probe ═════════════════ waits for the lock
 *     collector                                          given up ─┐
 *     another thread                                               └ probe, looks ── probe, looks
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_PROBE_LIMIT_NS UINT64_C(1000000000)

enum memory_probe_state {
    MEMORY_PROBE_IDLE,
    MEMORY_PROBE_READS,
    MEMORY_PROBE_GIVEN_UP,
    MEMORY_PROBE_OVER, /* the abandoned read has returned: no thread uses the probe */
};

struct memory_probe {
    uint32_t state;    /* atomic: enum memory_probe_state */
    uint64_t begin_ns; /* atomic: of the read */
};

/* NULL: out of memory. */
struct memory_probe *memory_probe_new(void);

/* Reads. A probe given up meanwhile does not return: the thread pauses until rec ends. */
void memory_probe_read(struct memory_probe *probe, pid_t pid);

/* From another thread: true if the read has taken longer than the limit. The reader's data are the
 * caller's then. */
bool memory_probe_give_up(struct memory_probe *probe, uint64_t now_ns);

bool memory_probe_is_over(const struct memory_probe *probe);

/* An idle or finished probe, or NULL. A probe given up stays until rec ends. */
void memory_probe_free(struct memory_probe *probe);

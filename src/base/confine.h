/* SPDX-License-Identifier: MIT */
/*
 * Takes from the calling process, for good, what parsing a foreign file does not need. What is left:
 * reading files, memory (not executable) up to a limit, CPU time up to a limit, and writing to one
 * descriptor. Everything else (creating or changing files, sockets, other processes) fails with EPERM.
 */
#pragma once

#include <stdint.h>

struct confine_limits {
    uint64_t memory_bytes; /* of address space, beyond what the process has already */
    uint64_t cpu_s;        /* more of CPU time ends the process */
};

/* Where the kernel knows no seccomp filters the limits hold all the same. 0 or a negative errno. */
int confine(const struct confine_limits *limits, int writable_fd);

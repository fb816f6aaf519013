/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of a process that parses a foreign file. Layers, each taken for good and in this order:
 *
 *     limits    CPU time, address space; no core file, no byte written to any file (setrlimit)
 *     rights    under sudo, the ids of the invoking user; no groups; no capability but CAP_DAC_READ_SEARCH of
 *               a root that stays root, and profiles the programs of all users (capset)
 *     files     open regular places for reading: not below /proc, /sys, /dev, /etc; no directory listed; nothing
 *               written, made, removed, executed, renamed; no TCP, no ioctl of devices, no signals or abstract
 *               sockets outside (Landlock, depending on the kernel's ABI)
 *     calls     reading, private memory without PROT_EXEC, writing to CONFINE_ANSWER_FD; everything else
 *               fails with EPERM (seccomp)
 *
 * The kernel may lack Landlock (before Linux 5.13, or not enabled). Without seccomp a process that stays root is
 * not confined: confine() fails; other users' processes go on with the other layers, and confine_gap() has a message.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    CONFINE_ANSWER_FD = 3, /* the only writable descriptor */
    CONFINE_RULES_FD,      /* open until the process is confined */
    CONFINE_DIRECTORIES = 2,
};

struct confine_limits {
    uint64_t memory_bytes;                        /* of address space, beyond the present size */
    uint64_t cpu_s;                               /* more of CPU time ends the process */
    const char *directories[CONFINE_DIRECTORIES]; /* readable whatever their place; NULL: none */
};

/* Features of the kernel, less the refusals of an outer sandbox. */
struct confine_support {
    int seccomp_err;  /* 0 or a negative errno */
    int landlock_abi; /* 1 and more, or a negative errno */
};
struct confine_support confine_support(void);

/* The rules of Landlock for several processes with these limits: making them takes 0.1 ms, applying them 0.01 ms. A
 * descriptor; negative: each process has to make rules. */
int confine_rules(const struct confine_limits *limits);

/* Confines the calling, single-threaded process and ties its life to the parent. rules_fd is closed; negative: none
 * are made yet. 0 or a negative errno. */
int confine(const struct confine_limits *limits, int rules_fd, pid_t parent);

/* The second layer alone. 0 or a negative errno. */
int confine_rights(void);

/* Whether the seccomp filter is missing. Then *message is for the user, and *is_refused is set if confine() fails for
 * lack of the filter. */
bool confine_gap(struct error *message, bool *is_refused);

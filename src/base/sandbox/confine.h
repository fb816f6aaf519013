/* SPDX-License-Identifier: MIT */
/*
 * Sandbox of a process that parses foreign files. The layers are permanent and applied in this
 * order:
 *
 *     limits    CPU time, address space; no core file, no byte written to any file (setrlimit)
 *     rights    under sudo, the ids of the invoking user; no groups; no capabilities, except
 *               CAP_DAC_READ_SEARCH if the user remains root and profiles programs of all users
 *               (capset)
 *     files     open regular files for reading, except below /proc, /sys, /dev, /etc; no listing of
 *               directories; no write, create, remove, execute or rename; no TCP, no device ioctl,
 *               no signals or abstract sockets to the outside (Landlock, as far as the kernel's ABI
 *               supports)
 *     calls     reading, private memory without PROT_EXEC, writing to CONFINE_ANSWER_FD; all other
 *               system calls fail with EPERM (seccomp)
 *
 * The kernel may lack Landlock (before Linux 5.13, or disabled). If seccomp is missing, confine()
 * fails for root; for other users the remaining layers apply. If the process cannot become the
 * invoking user, confine() fails. confine_gap() has a message for each.
 */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>
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
    const char *directories[CONFINE_DIRECTORIES]; /* readable wherever they are; NULL: unused */
    const int *files; /* descriptors of files, readable in any mount namespace */
    size_t file_count;
};

/* Features of the kernel, less the refusals of an outer sandbox. */
struct confine_support {
    int rights_err;   /* 0 or a negative errno: under sudo, a process cannot become the user */
    int seccomp_err;  /* 0 or a negative errno */
    int landlock_abi; /* 1 and more, or a negative errno */
};
struct confine_support confine_support(void);

/* Landlock rules, shared by several processes with the same limits: creating a rule set takes
 * 0.1 ms, applying a rule set 0.01 ms. Returns a descriptor; negative: each process has to
 * create rules. */
int confine_rules(const struct confine_limits *limits);

/* Confines the calling, single-threaded process and ends the process with its parent. Closes
 * rules_fd; negative: confine() creates the rules. 0 or a negative errno. */
int confine(const struct confine_limits *limits, int rules_fd, pid_t parent);

/* The second layer alone. 0 or a negative errno. */
int confine_rights(void);

/* The same for a process that runs code with settings or files in the home directory: under sudo,
 * HOME becomes the invoking user's. */
int confine_rights_and_home(void);

/* Whether a layer is missing. If so, *message describes the gap to the user, and *is_refused is
 * set if confine() fails for lack of the layer. */
bool confine_gap(struct error *message, bool *is_refused);

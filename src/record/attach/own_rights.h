/* SPDX-License-Identifier: MIT */
/* The rights of this process, and the limits of the kernel for its user: input of the rules in
 * access_rule.h. The parser takes text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bits of a capability set (linux/capability.h has the numbers only). */
#define RIGHT_IPC_LOCK (UINT64_C(1) << 14)
#define RIGHT_SYS_PTRACE (UINT64_C(1) << 19)
#define RIGHT_SYS_ADMIN (UINT64_C(1) << 21)
#define RIGHT_PERFMON (UINT64_C(1) << 38)

struct own_rights {
    pid_t pid;
    uid_t uid; /* effective */
    gid_t gid;
    uint64_t capabilities;    /* effective, in the user namespace of rec */
    bool has_filter;          /* a seccomp filter */
    bool is_in_namespace;     /* a user namespace other than that of the machine */
    bool is_in_pid_namespace; /* the same of process ids */
    int paranoid;             /* kernel.perf_event_paranoid; 0: unknown */
    int ptrace_scope;         /* kernel.yama.ptrace_scope; 0: no such rule */
    int events_error;         /* of an event on rec itself: 0, or a negative errno */
    int memory_error;         /* of a read of the own memory, the same */
    uint64_t locked_bytes;    /* RLIMIT_MEMLOCK; UINT64_MAX: none */
    int ring_kilobytes;       /* kernel.perf_event_mlock_kb */
};

struct own_rights own_rights_read(void);

/* Capabilities and filter, from the text of /proc/self/status. */
void own_rights_parse(struct own_rights *own, const char *status);

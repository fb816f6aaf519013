/* SPDX-License-Identifier: MIT */
/*
 * A seccomp filter: code for single calls and their arguments, then a list of calls by number.
 *
 *     another architecture? ─▶ code of confine_filter_add() ─▶ listed number? ─▶ listed │ others
 *
 * When a filter is installed, the kernel runs its code once for each number of a call
 * (seccomp_cache_prepare() of kernel/seccomp.c, Linux 6.18). So the list is sorted, and a number is
 * compared with one group alone.
 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define CONFINE_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half: little-endian. */
#define CONFINE_LOAD_ARGUMENT(number) CONFINE_LOAD(args[number])
#define CONFINE_RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define CONFINE_REFUSE CONFINE_RETURN(SECCOMP_RET_ERRNO | EPERM)
#define CONFINE_ALLOW CONFINE_RETURN(SECCOMP_RET_ALLOW)

struct confine_filter {
    struct sock_filter code[256];
    size_t count;
};

/* Starts the filter: other architectures than x86-64 are killed, and the number is loaded. */
struct confine_filter confine_filter_start(void);

/* Code with relative jumps that returns, or leaves at its end with the number loaded. */
void confine_filter_add(struct confine_filter *filter, const struct sock_filter *code,
                        size_t count);

/* Ends the filter and installs it for the calling thread. The calls are sorted in place. listed,
 * others: SECCOMP_RET_… of calls in the list, and of all others. 0 or a negative errno. */
int confine_filter_install(struct confine_filter *filter, uint32_t *calls, size_t count,
                           uint32_t listed, uint32_t others);

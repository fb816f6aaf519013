/* SPDX-License-Identifier: MIT */
/* The verdict of a seccomp filter about a system call, without its installation: classic BPF as
 * in linux/filter.h and seccomp(2), on calls with partly unknown arguments. */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

struct seccomp_call {
    struct seccomp_data data;
    uint32_t
        unknown; /* bit i: data.args[i] may have any value; so may the instruction pointer always */
};

/* True when the filter silently allows the call for all unknown values. False when the verdict
 * depends on them, for a filter invalid in the kernel, and for a too long evaluation. The code
 * is readable. Async-signal-safe. */
bool seccomp_eval_allows(const struct sock_filter *code, uint32_t count,
                         const struct seccomp_call *call);

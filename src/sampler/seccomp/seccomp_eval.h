/* SPDX-License-Identifier: MIT */
/*
 * What a seccomp filter says of a system call, without installing it: classic BPF as in linux/filter.h and
 * seccomp(2), on calls of which not every argument is known.
 */
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

/* True when the filter lets the call through, silently, whatever the unknown values are. False for all else: where it
 * depends on them, for a filter that the kernel would refuse, for one that takes too long to follow. The code is
 * readable. Async-signal-safe. */
bool seccomp_eval_allows(const struct sock_filter *code, uint32_t count,
                         const struct seccomp_call *call);

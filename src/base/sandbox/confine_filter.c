/* SPDX-License-Identifier: MIT */
/*
 * The program, in groups of ascending numbers: few comparisons for each call.
 *
 *     other architecture           kill: the numbers mean other calls
 *     number > last of the group   next group
 *     number == one of the group   listed
 *     (otherwise)                  others
 *     …
 *     behind the last group        others
 */
#include "base/sandbox/confine_filter.h"

#include "arch/own.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { GROUP = 8 };

void confine_filter_add(struct confine_filter *filter, const struct sock_filter *code, size_t count)
{
    assert(count <= sizeof(filter->code) / sizeof(filter->code[0]) - filter->count);
    memcpy(filter->code + filter->count, code, count * sizeof(*code));
    filter->count += count;
}

struct confine_filter confine_filter_start(void)
{
    static const struct sock_filter code[] = {
        CONFINE_LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, 1, 0),
        CONFINE_RETURN(SECCOMP_RET_KILL_PROCESS),
        CONFINE_LOAD(nr),
    };
    struct confine_filter filter = {.count = 0};
    confine_filter_add(&filter, code, sizeof(code) / sizeof(code[0]));
    return filter;
}

static void add_one(struct confine_filter *filter, struct sock_filter instruction)
{
    confine_filter_add(filter, &instruction, 1);
}

/* Up to the highest number of the group; higher numbers continue behind it. */
static void add_group(struct confine_filter *filter, const uint32_t *calls, size_t count,
                      uint32_t listed, uint32_t others)
{
    const uint8_t behind = (uint8_t)(count + 2);
    add_one(filter,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, calls[count - 1], behind, 0));
    for (size_t i = 0; i < count; i++)
        add_one(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i],
                                                     (uint8_t)(count - i), 0));
    add_one(filter, (struct sock_filter)CONFINE_RETURN(others));
    add_one(filter, (struct sock_filter)CONFINE_RETURN(listed));
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int confine_filter_install(struct confine_filter *filter, uint32_t *calls, size_t count,
                           uint32_t listed, uint32_t others)
{
    qsort(calls, count, sizeof(*calls), by_number);
    for (size_t i = 0; i < count; i += GROUP)
        add_group(filter, calls + i, count - i < GROUP ? count - i : GROUP, listed, others);
    add_one(filter, (struct sock_filter)CONFINE_RETURN(others));
    const struct sock_fprog program = {.len = (unsigned short)filter->count,
                                       .filter = filter->code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : -errno;
}

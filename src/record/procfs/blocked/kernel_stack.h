/* SPDX-License-Identifier: MIT */
/*
 * The part of a waiting thread's stack in the kernel, from /proc/PID/task/TID/stack (proc(5)). For
 * root. The text has names; addresses come from kernel_symbols.h:
 *
 *     [<0>] futex_do_wait+0x3f/0x70          innermost, from the scheduler's caller on
 *     [<0>] __x64_sys_futex+0x7c/0x1b0
 *     [<0>] do_syscall_64+0x71/0x280                      left out: the same in all stacks, and
 *     [<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e      the last functions of /proc/kallsyms
 */
#pragma once

#include "base/containers/intern.h"
#include "record/procfs/kernel/kernel_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_STACK_FRAMES_MAX = 64, KERNEL_STACK_TEXT_BYTES = 4096 };

struct kernel_stacks { /* zeros: closed */
    bool is_on;
    struct kernel_symbols symbols;
    struct intern *lines; /* seen before */
    uint64_t *avmas;      /* of the lines; 0: unknown; owned */
    size_t count, capacity;
};

/* Whether this process may read the kernel stacks of others, and addresses of functions. */
bool kernel_stacks_are_permitted(void);

/* The symbols are owned from now on. Without memory, nothing is on. */
void kernel_stacks_open(struct kernel_stacks *stacks, const struct kernel_symbols *symbols);
void kernel_stacks_close(struct kernel_stacks *stacks);

/* The return addresses, innermost first; frames without an address are left out. Returns their
 * number. */
size_t kernel_stacks_parse(struct kernel_stacks *stacks, const char *text,
                           uint64_t frames[KERNEL_STACK_FRAMES_MAX]);

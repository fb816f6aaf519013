/* SPDX-License-Identifier: MIT */
/* A stack of another process, copied from SP upwards in growing steps. */
#pragma once

#include "unwind/step.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct remote_stack {
    uint8_t *bytes; /* owned */
    size_t size, capacity;
    uint64_t sp_avma;
    pid_t pid;
};

/* Begins another stack; keeps the memory. */
void remote_stack_begin(struct remote_stack *stack, pid_t pid, uint64_t sp_avma);

/* Copies bytes up to this size; less where the mapping ends. 0: more bytes than before. -ENODATA:
 * the stack ends here. Or a negative errno of process_vm_readv(2). */
int remote_stack_grow(struct remote_stack *stack, size_t size);

struct stack_view remote_stack_view(const struct remote_stack *stack);
void remote_stack_free(struct remote_stack *stack);

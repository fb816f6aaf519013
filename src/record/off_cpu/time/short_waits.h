/* SPDX-License-Identifier: MIT */
/*
 * The waits of a thread with less than two ticks. Their sum is exact; the stacks are those of the
 * waits that a tick has met. Each of these samples stands for an equal part of the sum.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct look_stack;

struct short_wait {
    uint64_t start_ns;
    struct look_stack *stack; /* used */
};

struct short_waits {        /* zeros: none */
    uint64_t sum_ns;        /* of all, met or not, since the last sharing */
    uint64_t since_ns;      /* start of the first of them */
    uint64_t intervals;     /* number of them */
    uint64_t wakes;         /* of these, without their part of the runnable time (off_windows.c) */
    struct short_wait *met; /* owned */
    size_t count, capacity;
};

void short_waits_add(struct short_waits *waits, uint64_t start_ns, uint64_t end_ns);
/* A wait that was already added. 0 or -ENOMEM. */
int short_waits_meet(struct short_waits *waits, uint64_t start_ns, struct look_stack *stack);

/* The part of the sum for one of `count` samples. The parts of all add up to the sum. */
uint64_t short_waits_part_ns(const struct short_waits *waits, size_t i);
/* After the samples were written. */
void short_waits_clear(struct short_waits *waits);
void short_waits_free(struct short_waits *waits);

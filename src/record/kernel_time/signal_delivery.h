/* SPDX-License-Identifier: MIT */
/*
 * Kernel time of the sampler itself: the sampler's event expires in user code, and the kernel
 * delivers the signal at the return from the timer interrupt.
 *
 *     asm_sysvec_apic_timer_interrupt ─▶ irqentry_exit_to_user_mode ─▶ perf_pending_task, …
 *     entry                              exit
 *
 * The program's other returns from this interrupt have no work to do, except for a switch to
 * another thread. The handler ends with rt_sigreturn(2), from the frame of this signal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DELIVERY_FUNCTIONS_MAX = 8 };
enum delivery_kind {
    DELIVERY_NONE,
    DELIVERY_ENTRY,
    DELIVERY_EXIT,
    DELIVERY_SWITCH,
    DELIVERY_TIMER, /* called at the expiry of a clock event's timer */
};

struct signal_delivery {
    struct delivery_function {
        uint64_t start_avma, end_avma;
        enum delivery_kind kind;
    } functions[DELIVERY_FUNCTIONS_MAX];
    size_t count;
};

/* symbols: /proc/kallsyms, in the order of addresses. A kernel without the functions leaves an
 * empty table: then no sample is of the sampler. */
void signal_delivery_read(struct signal_delivery *delivery, FILE *symbols);

/* Whether a system call with this user stack is the return from the sampler's signal. */
bool signal_delivery_is_return(const uint8_t *stack, size_t stack_bytes);

/* The start of the first function of this kind; 0: none. */
uint64_t signal_delivery_find(const struct signal_delivery *delivery, enum delivery_kind kind);

/* The number of innermost frames that are the timer interrupt; all frames: it interrupted user
 * code. */
size_t signal_delivery_interrupt(const struct signal_delivery *delivery, const uint64_t *frames,
                                 size_t count);

/* frames: of the kernel, innermost first. */
bool signal_delivery_has(const struct signal_delivery *delivery, const uint64_t *frames,
                         size_t count);

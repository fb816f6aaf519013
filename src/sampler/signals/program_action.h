/* SPDX-License-Identifier: MIT */
/* The program's action for the sampler's signal. The kernel holds the sampler's handler; the
 * program reads and changes this copy through sigaction(), and deliver.c applies the copy to
 * signals of other senders. */
#pragma once

#include <signal.h>
#include <stdint.h>

struct action {
    union {
        void (*simple)(int);
        void (*full)(int, siginfo_t *, void *);
        uintptr_t value; /* SIG_DFL, SIG_IGN */
    } handler;
    uint64_t mask;
    int flags;
};

/* Async-signal-safe. */
struct action program_action_read(void);
/* Returns the action before; NULL changes nothing. Async-signal-safe. */
struct action program_action_write(const struct action *action);

/* The return stub of the C library, part of each action set by the C library. */
void program_action_set_restorer(void (*restorer)(void));

/* Conversions, with the changes made by the kernel. Async-signal-safe. */
struct action action_from_libc(const struct sigaction *from);
void action_to_libc(const struct action *action, struct sigaction *to);

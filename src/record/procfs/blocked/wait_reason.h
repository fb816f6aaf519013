/* SPDX-License-Identifier: MIT */
/*
 * Why a thread waits: by its system call, and where several functions share a call (futex), by the
 * frames of the C library:
 *
 *     futex ◀─ (unnamed) ◀─ pthread_mutex_lock ◀─ call pthread_mutex_lock@plt       lock
 */
#pragma once

#include "record/procfs/blocked/blocked_look.h"
#include "record/procfs/blocked/wait_functions.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wait_reason {
    enum wait_kind kind;
    const char *call;    /* name of the system call; NULL: unknown, or none */
    int descriptor;      /* -1: none */
    uint64_t futex_avma; /* 0: none */
    pid_t holder;        /* thread that holds the mutex; 0: unknown */
    pid_t child;         /* awaited process; 0: any, or unknown */
    uint32_t polled;     /* number of descriptors of poll() */
};

enum { WAIT_CALLS_KNOWN = 64 };

/* Functions of the modules in which threads wait; zeros: empty. */
struct wait_modules {
    /* By return address: the function called before, in the map of this generation. */
    struct wait_called {
        pid_t pid;
        uint64_t generation, return_avma, called_avma;
    } called[WAIT_CALLS_KNOWN];
    struct wait_module {
        struct known_module *module; /* in use */
        struct wait_functions functions;
    } * modules;
    size_t count, capacity;
};

/* state: the letter in /proc/PID/stat. frames: of the look. */
struct wait_reason wait_reason_find(struct wait_modules *modules,
                                    const struct look_process *process,
                                    const struct blocked_look *look, const uint64_t *frames,
                                    char state);

void wait_modules_free(struct wait_modules *modules);

/* SPDX-License-Identifier: MIT */
/*
 * Starts the command as a shell would see it without us: same process group and terminal, same signal
 * dispositions and mask, same descriptors. Waits for it, passing on signals that were sent to rec and
 * stopping and going on when it does.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What wakes the collector, see wake.c. */
#define LAUNCH_WAKE_SIGNAL SIGRTMIN

struct launch {
    pid_t pid;
    /* Of rec, before launch_block_signals(), and of the command. */
    sigset_t old_mask;
    struct sigaction old_child, old_file_size, old_wake;
    struct rlimit old_files;
};

/* The file that execvp would run: 0 and its path, or 126 / 127 with the reason. */
int launch_find(const char *command, char path[4096], struct error *error);

/* Must be called before any thread is started, so that all of them leave signals to launch_wait(). A
 * file that gets too large is an error of writing it, and children are waited for, whatever the caller
 * of rec thinks of SIGXFSZ and SIGCHLD. The command gets all of them as that caller left them. */
void launch_block_signals(struct launch *launch);
void launch_restore_signals(const struct launch *launch);

/* As many descriptors as rec may have: three of each process of the recording. The command keeps the
 * limit that rec was given. */
void launch_raise_files(struct launch *launch);

/* 0, or 126 / 127 when exec failed. */
int launch_start(struct launch *launch, const char *path, char *const *argv, char **environment,
                 struct error *error);

enum launch_wakeup {
    LAUNCH_ENDED,     /* the command has; it stays a zombie, so that its bill can still be read */
    LAUNCH_TIMED_OUT, /* the deadline has passed */
    LAUNCH_CALLED,    /* somebody set *call, then used launch_call() */
};
/* deadline_ns: CLOCK_MONOTONIC, 0: none. */
enum launch_wakeup launch_wait(const struct launch *launch, uint64_t deadline_ns,
                               const uint32_t *call);
/* From any thread. */
void launch_call(void);

/* For when the command has ended: sleeps so long; true when a signal that would end it was sent to us. */
bool launch_pause(uint64_t wait_ns);

/* Reaps it. */
int launch_reap(const struct launch *launch, int *wait_status, struct rusage *usage);

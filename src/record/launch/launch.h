/* SPDX-License-Identifier: MIT */
/*
 * Starts the command as a shell would without rec: same process group and terminal, same signal
 * dispositions and mask, same descriptors. Waits for the command, forwards signals sent to rec, and
 * stops and continues together with the command.
 */
#pragma once

#include "base/text/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Wakes the collector from a long sleep, see idle_wakeup.c. */
#define LAUNCH_WAKE_SIGNAL SIGRTMIN

struct launch {
    pid_t pid;
    int link_fd; /* to the child before its exec; -1: none */
    /* Of rec before launch_block_signals(); restored in the command. */
    sigset_t old_mask;
    struct sigaction old_child, old_file_size, old_wake;
    struct rlimit old_files;
};

/* Finds the file for execvp(). 0 and the path, or 126 / 127 with the error set. */
int launch_find(const char *command, char path[4096], struct error *error);

/* Call before the first thread: only launch_wait() may receive these signals. SIGXFSZ is
 * ignored, so a file beyond the size limit becomes a write error; SIGCHLD gets its default
 * action, so children can be waited for. The command gets rec's original dispositions of both. */
void launch_block_signals(struct launch *launch);
void launch_restore_signals(const struct launch *launch);

/* Raises the soft limit of open files to the hard limit: rec needs up to three descriptors per
 * process. The command keeps rec's original limit. */
void launch_raise_files(struct launch *launch);

/* Forks the child, which waits before its exec; if rec is killed meanwhile, the child executes the
 * command. 0, or 126. */
int launch_fork(struct launch *launch, const char *path, char *const *argv, char **environment,
                struct error *error);
/* Lets the child execute the command. 0, or 126 / 127 if exec failed. */
int launch_exec(struct launch *launch, const char *command, struct error *error);
/* Ends the waiting child, if there is one. */
void launch_abandon(struct launch *launch);

enum launch_wakeup {
    LAUNCH_ENDED, /* ended, and still a zombie: the rusage can be read */
    LAUNCH_TIMED_OUT,
    LAUNCH_CALLED, /* *call was set, then launch_call() used */
};
/* deadline_ns: CLOCK_MONOTONIC, 0: none. */
enum launch_wakeup launch_wait(const struct launch *launch, uint64_t deadline_ns,
                               const uint32_t *call);
/* Wakes launch_wait(). From any thread. */
void launch_call(void);

/* After the command has ended: sleeps for wait_ns; true if a terminating signal arrived. */
bool launch_pause(uint64_t wait_ns);

/* Reaps the command. */
int launch_reap(const struct launch *launch, int *wait_status, struct rusage *usage);

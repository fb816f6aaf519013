/* SPDX-License-Identifier: MIT */
/*
 * A shell continues the whole process group. Other tools may stop and continue the command alone,
 * and would leave rec stopped for ever. A child of rec therefore watches the command meanwhile.
 *
 *     command  ── stopped ──────────────────── continued, or killed ──
 *     rec      ─── fork ── stopped ──────────────────────── continued ─── kill, reap ──
 *     watcher        └── looks ── looks ── looks ── SIGCONT ──┘
 */
#include "record/launch/job_control.h"

#include "record/procfs/proc.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 200000000 /* rings have room for the samples of a longer time */

/* False also if the state cannot be read. */
static bool goes_on(pid_t command)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, command, 0) == 0 && stat.state != 'T' && stat.state != 't';
}

/* Sends SIGCONT again and again: the first signal may arrive before rec has stopped.
 * PR_SET_PDEATHSIG and the check of the parent end the watcher with rec, also where rec was killed
 * before prctl(). */
__attribute__((noreturn)) static void watch(pid_t command, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        if (goes_on(command))
            kill(parent, SIGCONT);
    }
    _exit(0);
}

pid_t job_control_stop_with(pid_t command)
{
    pid_t parent = getpid();
    pid_t watcher = fork();
    if (watcher == 0)
        watch(command, parent);
    kill(parent, SIGSTOP);
    if (watcher < 0)
        return 0;
    kill(watcher, SIGKILL);
    waitpid(watcher, NULL, 0);
    return watcher;
}

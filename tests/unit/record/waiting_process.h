/* SPDX-License-Identifier: MIT */
/* A program of tests/targets whose threads wait, with a look at each of them. */
#pragma once

#include "record/procfs/blocked/blocked_look.h"
#include "record/procfs/proc.h"
#include "record/attach/snapshot/snapshot_map.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITING_THREADS_MAX = 128 };

struct waiting_thread {
    pid_t tid;
    char name[16];
    struct blocked_look look;
    uint64_t *frames; /* owned */
};

struct waiting_process {
    const char *program;
    pid_t pid;
    char first_line[64]; /* of its output */
    struct open_file_cache open_files;
    struct ring_modules modules;
    struct process_map *map;
    struct blocked_looker looker;
    struct waiting_thread threads[WAITING_THREADS_MAX];
    size_t thread_count;
};

/* Starts the program and waits for its first line, and for its threads to block. */
static inline pid_t waiting_run(const char *program, char line[64])
{
    char path[512];
    int ends[2];
    snprintf(path, sizeof(path), TARGETS_DIR "/%s", program);
    if (pipe(ends) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], 1);
        execl(path, program, "100", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (read(ends[0], line, 63) <= 0)
        abort();
    usleep(500000);
    return pid; /* the pipe stays open: the program may print */
}

/* Until the thread is blocked; at most 5 s. */
static inline void waiting_look(struct waiting_process *process, struct waiting_thread *thread)
{
    const struct look_process place = {process->pid, process->modules.cache, process->map, 1};
    struct thread_files files;
    int err = thread_files_open(&files, process->pid, thread->tid);
    for (int i = 0; err == 0 && i < 500; i++) {
        thread->look = blocked_look(&process->looker, &place, &files);
        if (thread->look.result != LOOK_RUNNING && thread->look.result != LOOK_TORN)
            break;
        usleep(10000);
    }
    thread_files_close(&files);
    size_t bytes = thread->look.end.frame_count * sizeof(*thread->frames);
    thread->frames = malloc(bytes + 1);
    memcpy(thread->frames, process->looker.frames, bytes);
}

static inline void waiting_start(struct waiting_process *process, const char *program)
{
    char path[64];
    *process = (struct waiting_process){.program = program};
    process->pid = waiting_run(program, process->first_line);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
    struct rights rights = proc_rights_of(process->pid);
    if (ring_modules_open(&process->modules, &process->open_files) != 0 ||
        snapshot_map_read(&process->map, &process->modules, process->pid, &rights) != 0)
        abort();
    pid_t *tids = proc_list(path, &process->thread_count);
    for (size_t i = 0; tids && i < process->thread_count && i < WAITING_THREADS_MAX; i++) {
        struct waiting_thread *thread = &process->threads[i];
        thread->tid = tids[i];
        proc_name(process->pid, thread->tid, thread->name);
        waiting_look(process, thread);
    }
    free(tids);
}

/* Stops the thread and reads its registers; the thread stays stopped. False: the thread did not stop
 * within a second. */
static inline bool waiting_stop(pid_t tid, struct full_regs *regs)
{
    struct user_regs_struct user;
    struct iovec place = {&user, sizeof(user)};
    int status = 0;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return false;
    for (int i = 0; waitpid(tid, &status, WNOHANG | __WALL) == 0; i++) {
        if (i == 100)
            return false;
        usleep(10000);
    }
    if (!WIFSTOPPED(status) || ptrace(PTRACE_GETREGSET, tid, (void *)1L, &place) != 0)
        return false;
    *regs = (struct full_regs){.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
                                         user.rbp, user.rsp, user.r8, user.r9, user.r10, user.r11,
                                         user.r12, user.r13, user.r14, user.r15, user.rip},
                               .known = (1u << UNWIND_DWARF_REGS) - 1};
    return true;
}

static inline void waiting_end(struct waiting_process *process)
{
    kill(process->pid, SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0) /* every stopped thread, then the process */
        continue;
    for (size_t i = 0; i < process->thread_count; i++)
        free(process->threads[i].frames);
    blocked_looker_free(&process->looker);
    process_map_release(process->map);
    ring_modules_close(&process->modules);
    open_file_cache_free(&process->open_files);
}

/* SPDX-License-Identifier: MIT */
/*
 * storm_processes ROUNDS: children by fork, vfork, posix_spawn, and by raw system calls that the C library
 * knows nothing of: clone as fork, and clone as a thread without thread-local storage of its own. Each
 * ends with the status that it was told.
 */
#include "storm.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_FORK, BY_VFORK, BY_SPAWN, BY_CLONE, BY_CLONE_THREAD, KINDS, STACK_BYTES = 65536 };

extern char **environ;

static int end_of(pid_t pid)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int forked(int status, uint64_t rounds)
{
    pid_t pid = fork();
    if (pid == 0) {
        free(malloc(burn_rounds(1, rounds) % 1000));
        _exit(status);
    }
    return end_of(pid);
}

static int vforked(int status, uint64_t rounds)
{
    pid_t pid = vfork();
    if (pid == 0) {
        burn_rounds(1, rounds);
        _exit(status);
    }
    return end_of(pid);
}

static int spawned(int status)
{
    char script[16];
    char *const words[] = {"sh", "-c", script, NULL};
    pid_t pid;
    snprintf(script, sizeof(script), "exit %d", status);
    return posix_spawnp(&pid, "sh", NULL, NULL, words, environ) == 0 ? end_of(pid) : -1;
}

/* Nobody is told: no handlers of pthread_atfork() run. */
static int cloned(int status, uint64_t rounds)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        burn_rounds(1, rounds);
        syscall(SYS_exit_group, status);
    }
    return end_of(pid);
}

struct raw_thread {
    int status, result;
    uint64_t rounds;
    uint32_t tid; /* cleared by the kernel at its end */
};

/* It shares the thread-local storage of its maker, errno included: no system call that can fail. */
static int raw_thread_main(void *argument)
{
    struct raw_thread *raw = argument;
    burn_rounds(1, raw->rounds);
    raw->result = raw->status;
    return 0;
}

static int cloned_thread(int status, uint64_t rounds)
{
    struct raw_thread raw = {.status = status, .result = -1, .rounds = rounds, .tid = 1};
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    if (clone(raw_thread_main, stack + STACK_BYTES, flags, &raw, NULL, NULL, &raw.tid) < 0)
        return -1;
    while (__atomic_load_n(&raw.tid, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &raw.tid, FUTEX_WAIT, 1, NULL, NULL, 0);
    munmap(stack, STACK_BYTES);
    return raw.result;
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    for (unsigned long round = 0; round < storm->rounds; round++) {
        uint64_t random = storm_random(storm);
        int status = (int)(random % 100), result = -1;
        uint64_t rounds = (random >> 10) % 600000;
        switch (random % KINDS) {
        case BY_FORK:
            result = forked(status, rounds);
            break;
        case BY_VFORK:
            result = vforked(status, rounds);
            break;
        case BY_SPAWN:
            result = spawned(status);
            break;
        case BY_CLONE:
            result = cloned(status, rounds);
            break;
        case BY_CLONE_THREAD:
            result = cloned_thread(status, rounds);
            break;
        }
        storm->sum += result != status;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}

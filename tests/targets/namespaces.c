/* SPDX-License-Identifier: MIT */
/*
 * namespaces HOW WORK_MS
 *
 * Makes children in pid namespaces of their own, in the ways of sandboxes; two at a time, but for the last two, which
 * the kernel allows once:
 *
 *     clone    clone() on a small stack within its own, out of which the child jumps; without /proc from then on
 *     syscall  clone as a bare system call
 *     close, range, bare, from
 *              as syscall, then all descriptors are closed, by close(), close_range(), that as a bare system call, or
 *              closefrom(), and another program is executed
 *     unshare  unshare(), then fork()
 *     nested   as unshare, and the child does so once more
 *
 * A child works in two threads for that long each. Its parent prints what they are called from outside, "HOW PID TID".
 */
#include "burn.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPACES (CLONE_NEWUSER | CLONE_NEWPID)
#define PIPE_FD 0 /* of a child */

static uint64_t work_ns;

static void *work_aside(void *argument)
{
    pthread_setname_np(pthread_self(), "aside");
    (void)!write(PIPE_FD, "", 1);
    burn_until_ns(work_ns);
    return argument;
}

static int work_in_two_threads(void)
{
    pthread_t thread;
    if (getpid() != 1 || pthread_create(&thread, NULL, work_aside, NULL) != 0)
        return 3;
    burn_until_ns(work_ns);
    pthread_join(thread, NULL);
    return 0;
}

static int jump(void *environment)
{
    longjmp(*(jmp_buf *)environment, 1);
}

static pid_t clone_and_jump(void)
{
    jmp_buf environment;
    char stack[16384] __attribute__((aligned(16)));
    if (setjmp(environment) == 0)
        return clone(jump, stack + sizeof(stack), SPACES | SIGCHLD, environment);
    return 0;
}

static pid_t fork_after_unshare(void)
{
    return unshare(CLONE_NEWPID) == 0 ? fork() : -1;
}

static void close_one_by_one(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

static void close_range_of_all(void)
{
    close_range(3, ~0u, 0);
}

static void close_past_the_c_library(void)
{
    syscall(SYS_close_range, 3, ~0u, 0);
}

static void close_from(void)
{
    closefrom(3);
}

static const struct way_to_close {
    const char *how;
    void (*close_all)(void);
} ways_to_close[] = {
    {"close", close_one_by_one},
    {"range", close_range_of_all},
    {"bare", close_past_the_c_library},
    {"from", close_from},
};

/* NULL: it closes nothing. */
static const struct way_to_close *way_to_close(const char *how)
{
    for (size_t i = 0; i < sizeof(ways_to_close) / sizeof(ways_to_close[0]); i++)
        if (strcmp(how, ways_to_close[i].how) == 0)
            return &ways_to_close[i];
    return NULL;
}

static void close_and_execute(const struct way_to_close *way, char **argv)
{
    way->close_all();
    execl("/proc/self/exe", argv[0], "work", argv[2], (char *)NULL);
    _exit(4);
}

static int nest(void)
{
    pid_t pid = fork_after_unshare();
    int status;
    if (pid == 0)
        _exit(work_in_two_threads());
    return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 5;
}

static pid_t make_child(const char *how, int pipe_fd, char **argv)
{
    pid_t pid = strcmp(how, "clone") == 0 ? clone_and_jump()
                : strcmp(how, "syscall") == 0 || way_to_close(how)
                    ? (pid_t)syscall(SYS_clone, SPACES | SIGCHLD, NULL, NULL, NULL, NULL)
                    : fork_after_unshare();
    if (pid != 0)
        return pid;
    dup2(pipe_fd, PIPE_FD);
    if (strcmp(how, "clone") == 0 && chroot("/proc/self/fdinfo") != 0)
        _exit(6);
    if (way_to_close(how))
        close_and_execute(way_to_close(how), argv);
    exit(strcmp(how, "nested") == 0 ? nest() : work_in_two_threads());
}

/* The newest thread of a process that has two, or of its only child. */
static void print_ids(const char *how, pid_t pid)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *children = fopen(path, "r");
    if (children && fscanf(children, "%d", &child) == 1)
        pid = child;
    if (children)
        fclose(children);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    long last = 0;
    for (const struct dirent *task; tasks && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            last = strtol(task->d_name, NULL, 10);
    if (tasks)
        closedir(tasks);
    printf("%s %d %ld\n", how, (int)pid, last);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int ends[2], status, result = 0;
    char byte;
    if (argc != 3)
        return 2;
    work_ns = strtoull(argv[2], NULL, 10) * 1000000;
    if (strcmp(argv[1], "work") == 0)
        return work_in_two_threads();
    bool unshares = strcmp(argv[1], "unshare") == 0 || strcmp(argv[1], "nested") == 0;
    int children = unshares ? 1 : 2;
    if (pipe(ends) != 0 || (unshares && unshare(CLONE_NEWUSER) != 0))
        return 7;
    for (int i = 0; i < children; i++) {
        pid_t pid = make_child(argv[1], ends[1], argv);
        if (pid < 0 || read(ends[0], &byte, 1) != 1)
            return 8;
        print_ids(argv[1], pid);
    }
    for (int i = 0; i < children; i++)
        if (wait(&status) < 0 || status != 0)
            result = 9;
    return result;
}

/* SPDX-License-Identifier: MIT */
/*
 * sandboxed HOW MILLISECONDS: a thread begins; then the process forbids itself all system calls but some, and works in
 * threads, a forked child and with blocked signals, so long each. Allowed is, and what becomes of the others:
 *
 *     prctl, syscall   what its own work takes                                  death
 *     no-handlers      the same without the end of a signal handler             death
 *     exec             what a program takes that is executed, too: the child    death
 *     typical          what a list for services has, too                        an error
 */
#include "burn.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int needed[] = {
    SYS_read,           SYS_write, SYS_futex, SYS_mmap,      SYS_munmap,          SYS_mprotect,
    SYS_madvise,        SYS_brk,   SYS_clone, SYS_clone3,    SYS_set_robust_list, SYS_rseq,
    SYS_rt_sigprocmask, SYS_wait4, SYS_exit,  SYS_exit_group};
static const int return_from_handler = SYS_rt_sigreturn;
static const int needed_to_execute[] = {
    SYS_execve, SYS_access,     SYS_openat,     SYS_close,           SYS_pread64,   SYS_fstat,
    SYS_lseek,  SYS_newfstatat, SYS_arch_prctl, SYS_set_tid_address, SYS_prlimit64, SYS_getrandom};
static const int typical[] = {
    SYS_clock_gettime, SYS_getpid,       SYS_getppid,      SYS_gettid,
    SYS_getrusage,     SYS_rt_sigaction, SYS_timer_create, SYS_timer_delete,
    SYS_timer_settime, SYS_prctl,        SYS_faccessat,    SYS_sched_yield,
    SYS_readlinkat,    SYS_memfd_create, SYS_ftruncate,    SYS_fcntl};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t work_rounds;
static bool executes;
static pthread_barrier_t has_begun, is_sandboxed;

static struct sock_filter
    code[2 * (1 + COUNT(needed) + COUNT(needed_to_execute) + COUNT(typical)) + 2];
static unsigned short used;

static void allow(const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        code[used++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
}

static int sandbox(const char *how)
{
    bool is_typical = strcmp(how, "typical") == 0;
    unsigned others = is_typical ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS;
    code[used++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    allow(needed, COUNT(needed));
    if (strcmp(how, "no-handlers") != 0)
        allow(&return_from_handler, 1);
    if (executes)
        allow(needed_to_execute, COUNT(needed_to_execute));
    if (is_typical)
        allow(typical, COUNT(typical));
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
    struct sock_fprog filter = {.len = used, .filter = code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(how, "prctl") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

static void *work(void *argument)
{
    return burn_rounds(1, work_rounds) ? argument : NULL;
}

static void *work_later(void *argument)
{
    pthread_barrier_wait(&has_begun);
    pthread_barrier_wait(&is_sandboxed);
    return work(argument);
}

static void work_with_blocked_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    work(NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int work_in_child(void)
{
    char rounds[32];
    snprintf(rounds, sizeof(rounds), "%llu", (unsigned long long)work_rounds);
    if (executes)
        execl("/proc/self/exe", "sandboxed", "child", rounds, NULL);
    work_with_blocked_signals();
    return 3;
}

int main(int argc, char **argv)
{
    pthread_t early, late;
    int status = -1;
    const char *how = argc > 1 ? argv[1] : "prctl";
    work_rounds = strtoull(argc > 2 ? argv[2] : "60", NULL, 10);
    if (strcmp(how, "child") == 0)
        return work_in_child();
    work_rounds = burn_rounds_of(work_rounds);
    executes = strcmp(how, "exec") == 0 || strcmp(how, "typical") == 0;
    puts("started");
    fflush(stdout);
    pthread_barrier_init(&has_begun, NULL, 2);
    pthread_barrier_init(&is_sandboxed, NULL, 2);
    pthread_create(&early, NULL, work_later, NULL);
    pthread_barrier_wait(&has_begun);
    if (sandbox(how) != 0)
        return 97;
    pthread_barrier_wait(&is_sandboxed);
    work(NULL);
    pthread_join(early, NULL);
    pthread_create(&late, NULL, work, NULL);
    pthread_join(late, NULL);
    work_with_blocked_signals();
    if (fork() == 0)
        _exit(work_in_child());
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 4;
}

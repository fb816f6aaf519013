/* SPDX-License-Identifier: MIT */
/*
 * sandboxed prctl|syscall ROUNDS: a thread begins; then the process forbids itself, on pain of death, every system
 * call but those that its own work takes; and works in threads, a forked child and with blocked signals.
 */
#include "burn.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int needed[] = {
    SYS_read,           SYS_write,        SYS_futex, SYS_mmap,   SYS_munmap,          SYS_mprotect,
    SYS_madvise,        SYS_brk,          SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_wait4, SYS_exit,   SYS_exit_group};
enum { NEEDED = sizeof(needed) / sizeof(needed[0]) };

static uint64_t work_rounds;
static pthread_barrier_t has_begun, is_sandboxed;

static int sandbox(const char *how)
{
    struct sock_filter code[2 * NEEDED + 2];
    unsigned short used = 0;
    code[used++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < NEEDED; i++) {
        code[used++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)needed[i], 0, 1);
        code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
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

int main(int argc, char **argv)
{
    pthread_t early, late;
    int status = -1;
    work_rounds = strtoull(argc > 2 ? argv[2] : "20000000", NULL, 10);
    puts("started");
    fflush(stdout);
    pthread_barrier_init(&has_begun, NULL, 2);
    pthread_barrier_init(&is_sandboxed, NULL, 2);
    pthread_create(&early, NULL, work_later, NULL);
    pthread_barrier_wait(&has_begun);
    if (sandbox(argc > 1 ? argv[1] : "prctl") != 0)
        return 97;
    pthread_barrier_wait(&is_sandboxed);
    work(NULL);
    pthread_join(early, NULL);
    pthread_create(&late, NULL, work, NULL);
    pthread_join(late, NULL);
    work_with_blocked_signals();
    if (fork() == 0) {
        work_with_blocked_signals();
        _exit(3);
    }
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 4;
}

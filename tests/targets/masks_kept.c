/* SPDX-License-Identifier: MIT */
/*
 * masks_kept HOW NUMBER: whether a signal is blocked, as the program sees it, after masks came and went in
 * every way; and whether it arrives where the program waits for it.
 *
 *     longjmp, handler, context    masks that are restored by other means than sigprocmask()
 *     thread                       a thread that was created with a mask
 *     suspend, ppoll, sleep        loops of waits that unblock it, until its handler has run
 *     wait, waitinfo, timedwait    200 of them, taken while it is blocked
 *     vfork, clone                 a child changes its own
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int number;
static volatile sig_atomic_t handled;
static sigset_t all, none, one;
static sigjmp_buf place;
static ucontext_t here, there;

static void burn_some(void)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 5000000);
}

static void say(const char *when)
{
    sigset_t mask;
    burn_some();
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%s: %d %d\n", when, sigismember(&mask, number), sigismember(&mask, SIGUSR2));
}

static void count(int signal)
{
    (void)signal;
    handled++;
}

static void blocks_all(int signal)
{
    (void)signal;
    say("in the handler");
    sigprocmask(SIG_SETMASK, &all, NULL);
    say("blocked there");
}

static void unblocks_all(int signal)
{
    (void)signal;
    sigprocmask(SIG_SETMASK, &none, NULL);
    say("unblocked there");
}

static void jump(void)
{
    if (sigsetjmp(place, 1) == 0) {
        sigprocmask(SIG_SETMASK, &all, NULL);
        say("blocked");
        siglongjmp(place, 1);
    }
    say("back from there");
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (sigsetjmp(place, 1) == 0) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        say("unblocked");
        siglongjmp(place, 1);
    }
    say("back again");
}

static void handle(void)
{
    signal(SIGUSR1, blocks_all);
    raise(SIGUSR1);
    say("after it");
    signal(SIGUSR1, unblocks_all);
    sigset_t most = all;
    sigdelset(&most, SIGUSR1);
    sigprocmask(SIG_SETMASK, &most, NULL);
    raise(SIGUSR1);
    say("after the other");
}

static void run_there(void)
{
    say("there");
    sigprocmask(SIG_SETMASK, &all, NULL);
    say("blocked there");
    swapcontext(&there, &here);
    say("there again");
}

static void switch_contexts(void)
{
    static char stack[65536];
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_link = &here;
    makecontext(&there, run_there, 0);
    swapcontext(&here, &there);
    say("here");
    swapcontext(&here, &there);
    say("here again");
}

static void *say_in_thread(void *unused)
{
    say("thread");
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, &none, &before);
    printf("was %d\n", sigismember(&before, number));
    say("unblocked");
    return unused;
}

static void create_with_mask(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_create(&thread, &attributes, say_in_thread, NULL);
    pthread_join(thread, NULL);
    sigprocmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, say_in_thread, NULL);
    pthread_join(thread, NULL);
    pthread_attr_setsigmask_np(&attributes, &none);
    pthread_create(&thread, &attributes, say_in_thread, NULL);
    pthread_join(thread, NULL);
    say("creator");
}

/* Waits with a mask until the handler has run, as a program with a flag does. */
static void wait_until_handled(const char *how, int before)
{
    struct timespec long_time = {.tv_sec = 20};
    while (handled == before) {
        errno = 0;
        int result =
            strcmp(how, "ppoll") == 0 ? ppoll(NULL, 0, &long_time, &none) : sigsuspend(&none);
        if (result != -1 || errno != EINTR) {
            printf("result %d: %s\n", result, strerror(errno));
            return;
        }
    }
}

static void wait_with_mask(const char *how)
{
    signal(number, count);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 20; i++) {
        int before = handled;
        burn_some();
        kill(getpid(), number);
        burn_some();
        wait_until_handled(how, before);
        printf("handled %d\n", (int)handled);
    }
    say("after");
}

/* The signal comes while the thread sleeps, from another process. */
static void wait_for_another_process(void)
{
    signal(number, count);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 10; i++) {
        int before = handled;
        burn_some();
        pid_t child = fork();
        if (child == 0) {
            usleep(20000);
            kill(getppid(), number);
            _exit(0);
        }
        wait_until_handled("suspend", before);
        while (waitpid(child, NULL, 0) < 0)
            continue;
        printf("handled %d\n", (int)handled);
    }
    say("after");
}

static void take(const char *how)
{
    siginfo_t info;
    struct timespec no_time = {0}, some_time = {.tv_nsec = 30000000};
    int taken = 0;
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 200; i++) {
        if (i % 2)
            kill(getpid(), number);
        else
            sigqueue(getpid(), number, (union sigval){.sival_int = i});
        burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 500000);
        int got = 0;
        memset(&info, 0, sizeof(info));
        if (strcmp(how, "wait") == 0)
            sigwait(&all, &got);
        else if (strcmp(how, "waitinfo") == 0)
            got = sigwaitinfo(&all, &info);
        else
            got = sigtimedwait(&all, &info, &some_time);
        taken += got == number;
        if (strcmp(how, "wait") != 0 && (info.si_code != (i % 2 ? SI_USER : SI_QUEUE) ||
                                         (i % 2 == 0 && info.si_value.sival_int != i)))
            printf("%d: another one: code %d\n", i, info.si_code);
    }
    burn_some();
    int more = sigtimedwait(&all, &info, &no_time);
    printf("taken %d, then %d %s\n", taken, more, strerror(errno));
    say("after");
}

static void let_child_change(bool is_vfork)
{
    signal(number, count);
    sigprocmask(SIG_SETMASK, &all, NULL);
    say("before");
    int in_child = -1;
    pid_t child = is_vfork ? vfork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        struct sigaction old;
        sigset_t mask;
        signal(number, SIG_IGN);
        sigaction(number, NULL, &old);
        in_child = old.sa_handler == SIG_IGN;
        signal(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, &mask);
        in_child += 2 * sigismember(&mask, number);
        sigprocmask(SIG_SETMASK, NULL, &mask);
        in_child += 4 * !sigismember(&mask, number);
        _exit(in_child);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child saw %d\n", WEXITSTATUS(status));
    say("parent");
    raise(number);
    printf("handled %d\n", (int)handled);
    sigprocmask(SIG_SETMASK, &none, NULL);
    say("unblocked");
    printf("handled %d\n", (int)handled);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 98;
    const char *how = argv[1];
    number = atoi(argv[2]);
    sigfillset(&all);
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, number);
    burn_until_ns(50000000);
    if (strcmp(how, "longjmp") == 0)
        jump();
    else if (strcmp(how, "handler") == 0)
        handle();
    else if (strcmp(how, "context") == 0)
        switch_contexts();
    else if (strcmp(how, "thread") == 0)
        create_with_mask();
    else if (strcmp(how, "sleep") == 0)
        wait_for_another_process();
    else if (strstr("wait waitinfo timedwait", how))
        take(how);
    else if (strcmp(how, "vfork") == 0 || strcmp(how, "clone") == 0)
        let_child_change(how[0] == 'v');
    else
        wait_with_mask(how);
    return 0;
}

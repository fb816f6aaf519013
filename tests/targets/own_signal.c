/* SPDX-License-Identifier: MIT */
/*
 * own_signal HOW NUMBER: a program that uses a signal for itself while it uses 120 ms of CPU time, and
 * says what it got.
 *
 *     raise, kill, queue   500 times to itself, counted by its handler
 *     int3                 500 breakpoint instructions
 *     int3-blocked         one where it is handled, but blocked: that kills
 *     int3-ignored         one where it is ignored: that kills, too
 *     masks                what its handler finds blocked, as its action says
 *     round-trip           sets actions and reads them back
 *     siginfo              the handler gets the sender's data
 *     reset                puts every signal back to its default
 *     one-shot             __sysv_signal: handled once, the second one kills
 *     ignore               ignores it, and sends it
 *     default              sends it with its default action
 *     block                handled when it is unblocked
 *     wait                 every thread blocks all signals, one waits for whatever comes
 *     timer                an interval timer's SIGPROF, ignored at first, then counted
 *     interrupt            interrupts a sleep, which must not be restarted
 *     restart-waits        and calls that wait for a byte, which are, as the action says
 */
#include "burn.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMES = 500 };

static volatile sig_atomic_t handled;
static volatile sig_atomic_t seen_code, seen_value;
static uint64_t end_ns = 120 * 1000000;

static void count(int signal)
{
    (void)signal;
    handled++;
}

static void look(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    seen_code = info->si_code;
    seen_value = info->si_value.sival_int;
    handled++;
}

static void burn_a_part(int i)
{
    burn_until_ns(end_ns / TIMES * (uint64_t)i);
}

static void say_handled(void)
{
    printf("handled %d\n", (int)handled);
}

static void breakpoint_while_blocked(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, count);
    sigprocmask(SIG_BLOCK, &set, NULL);
    burn_a_part(TIMES);
    __asm__ volatile("int3");
    say_handled();
}

static void breakpoint_while_ignored(int number)
{
    signal(number, SIG_IGN);
    burn_a_part(TIMES);
    __asm__ volatile("int3");
    puts("survived");
}

static void say_blocked(int signal)
{
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("blocked: %d, of the mask %d, of the action %d\n", sigismember(&set, signal),
           sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
}

static void look_at_masks(int number)
{
    static const int flags[] = {0, SA_NODEFER};
    struct sigaction action = {.sa_handler = say_blocked};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaddset(&action.sa_mask, SIGUSR2);
    for (int i = 0; i < 2; i++) {
        burn_a_part(TIMES / 2 * (i + 1));
        action.sa_flags = flags[i];
        sigaction(number, &action, NULL);
        raise(number);
        say_blocked(number);
    }
}

static void send_often(const char *how, int number)
{
    signal(number, count);
    for (int i = 0; i < TIMES; i++) {
        burn_a_part(i);
        if (strcmp(how, "raise") == 0)
            raise(number);
        else if (strcmp(how, "kill") == 0)
            kill(getpid(), number);
        else if (strcmp(how, "queue") == 0)
            sigqueue(getpid(), number, (union sigval){.sival_int = i});
        else
            __asm__ volatile("int3");
    }
    say_handled();
}

static void round_trip(int number)
{
    struct sigaction wanted = {.sa_handler = count, .sa_flags = SA_NODEFER | SA_RESTART};
    struct sigaction before, after;
    sigemptyset(&wanted.sa_mask);
    sigaddset(&wanted.sa_mask, SIGUSR2);
    sigaction(number, NULL, &before);
    printf("default at first: %d\n", before.sa_handler == SIG_DFL);
    for (int i = 0; i < TIMES; i++) {
        burn_a_part(i);
        sigaction(number, &wanted, NULL);
        sigaction(number, &before, &after);
        if (after.sa_handler != count || (after.sa_flags & ~0x04000000) != wanted.sa_flags ||
            !sigismember(&after.sa_mask, SIGUSR2) || sigismember(&after.sa_mask, SIGUSR1))
            printf("another action came back in turn %d\n", i);
    }
    printf("signal says: %d %d %d\n", signal(number, SIG_IGN) == SIG_DFL,
           signal(number, count) == SIG_IGN, signal(number, SIG_DFL) == count);
    printf("bad handlers: %d %d\n", sigaction(SIGKILL, &wanted, NULL), errno == EINVAL);
}

static void get_siginfo(int number)
{
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
    burn_a_part(TIMES);
    sigqueue(getpid(), number, (union sigval){.sival_int = 4711});
    printf("code %d value %d\n", (int)seen_code, (int)seen_value);
    say_handled();
}

static void reset_all(void)
{
    for (int i = 0; i < TIMES; i++) {
        burn_a_part(i);
        for (int number = 1; number <= SIGRTMAX; number++)
            signal(number, SIG_DFL);
    }
    puts("reset");
}

static void one_shot(int number)
{
    __sysv_signal(number, count);
    burn_a_part(TIMES);
    raise(number);
    say_handled();
    fflush(stdout);
    raise(number);
    puts("survived");
}

static void ignore(int number)
{
    signal(number, SIG_IGN);
    for (int i = 0; i < TIMES; i++) {
        burn_a_part(i);
        raise(number);
    }
    puts("ignored");
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, count);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(number);
    burn_a_part(TIMES / 2);
    printf("while blocked: ");
    say_handled();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    burn_a_part(TIMES);
    say_handled();
}

static void *wait_for_signals(void *number)
{
    sigset_t all;
    int got;
    sigfillset(&all);
    while (handled < 100 && sigwait(&all, &got) == 0) {
        if (got != *(int *)number)
            printf("signal %d came\n", got);
        handled += got == *(int *)number;
        burn_rounds(1, 100000);
    }
    return NULL;
}

static void wait_in_a_thread(int number)
{
    sigset_t all;
    pthread_t waiter;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&waiter, NULL, wait_for_signals, &number);
    for (int i = 0; i < 100; i++) {
        burn_until_ns(end_ns / 100 * (uint64_t)i);
        int before = handled;
        kill(getpid(), number);
        while (handled == before)
            usleep(100);
    }
    pthread_join(waiter, NULL);
    say_handled();
}

static void use_interval_timer(void)
{
    struct itimerval often = {.it_interval = {.tv_usec = 4000}, .it_value = {.tv_usec = 4000}};
    signal(SIGPROF, SIG_IGN);
    setitimer(ITIMER_PROF, &often, NULL);
    burn_a_part(TIMES / 2);
    signal(SIGPROF, count);
    burn_a_part(TIMES);
    printf("handled some: %d\n", handled > 5);
}

static void interrupt_sleep(int number)
{
    struct sigaction action = {.sa_handler = count};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec once = {.it_value = {.tv_nsec = 100000000}};
    timer_t timer;
    sigaction(number, &action, NULL);
    burn_a_part(TIMES);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &once, NULL);
    struct timespec sleep = {.tv_sec = 5};
    printf("sleep: %d %s\n", nanosleep(&sleep, &sleep), strerror(errno));
    say_handled();
}

static struct waiter {
    int number, pipe[2];
    pthread_t thread;
    sem_t semaphore;
} waiter;

static void *interrupt_waiter(void *unused)
{
    const char byte = 1;
    for (int i = 0; i < 20; i++) {
        usleep(10000);
        pthread_kill(waiter.thread, waiter.number);
    }
    if (write(waiter.pipe[1], &byte, 1) != 1 || sem_post(&waiter.semaphore) != 0)
        puts("no byte");
    return unused;
}

static long wait_for_byte(bool reads)
{
    char byte;
    return reads ? read(waiter.pipe[0], &byte, 1) : sem_wait(&waiter.semaphore);
}

static void restart_wait(int number, bool reads)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    pthread_t sender;
    waiter = (struct waiter){.number = number, .thread = pthread_self()};
    sem_init(&waiter.semaphore, 0, 0);
    if (pipe(waiter.pipe) != 0 || sigaction(number, &action, NULL) != 0)
        return;
    handled = 0;
    pthread_create(&sender, NULL, interrupt_waiter, NULL);
    errno = 0;
    long result = wait_for_byte(reads);
    int err = errno;
    pthread_join(sender, NULL);
    printf("%ld %s, handled: %d\n", result, strerror(err), handled > 0);
}

static void restart_waits(int number)
{
    burn_a_part(TIMES);
    restart_wait(number, false);
    restart_wait(number, true);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 98;
    const char *how = argv[1];
    int number = atoi(argv[2]);
    if (strcmp(how, "round-trip") == 0)
        round_trip(number);
    else if (strcmp(how, "siginfo") == 0)
        get_siginfo(number);
    else if (strcmp(how, "reset") == 0)
        reset_all();
    else if (strcmp(how, "one-shot") == 0)
        one_shot(number);
    else if (strcmp(how, "ignore") == 0)
        ignore(number);
    else if (strcmp(how, "block") == 0)
        block(number);
    else if (strcmp(how, "wait") == 0)
        wait_in_a_thread(number);
    else if (strcmp(how, "timer") == 0)
        use_interval_timer();
    else if (strcmp(how, "interrupt") == 0)
        interrupt_sleep(number);
    else if (strcmp(how, "restart-waits") == 0)
        restart_waits(number);
    else if (strcmp(how, "masks") == 0)
        look_at_masks(number);
    else if (strcmp(how, "int3-ignored") == 0)
        breakpoint_while_ignored(number);
    else if (strcmp(how, "int3-blocked") == 0)
        breakpoint_while_blocked(number);
    else if (strcmp(how, "default") == 0)
        burn_a_part(TIMES), fflush(stdout), raise(number);
    else
        send_often(how, number);
    return 0;
}

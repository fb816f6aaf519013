/* SPDX-License-Identifier: MIT */
/* odd_calls NUMBER: calls with arguments that make no sense, and what they answer; each in a process of its
 * own, for some end it. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#include "burn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int number;
static void *const bad = (void *)8;
static char *const no_words[] = {(char *)(uintptr_t) "x", NULL};

static void handle(int signal)
{
    (void)signal;
}

/* What a call returned, and errno if it touched it. */
#define SAY(call)                                                    \
    do {                                                             \
        fflush(stdout);                                              \
        pid_t child = fork();                                        \
        if (child == 0) {                                            \
            errno = 77;                                              \
            long result = (long)(call);                              \
            printf("%s: %ld, %s\n", #call, result, strerror(errno)); \
            fflush(stdout);                                          \
            _exit(0);                                                \
        }                                                            \
        int status = 0;                                              \
        waitpid(child, &status, 0);                                  \
        if (status)                                                  \
            printf("%s: ended by %d\n", #call, status & 0x7f);       \
    } while (0)

static void say_masks(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    SAY(sigprocmask(SIG_BLOCK, &set, NULL));
    SAY(sigprocmask(99, &set, NULL));
    SAY(sigprocmask(-1, &set, NULL));
    SAY(sigprocmask(99, NULL, &set));
    SAY(sigprocmask(SIG_BLOCK, NULL, NULL));
    SAY(sigprocmask(SIG_BLOCK, bad, NULL));
    SAY(sigprocmask(SIG_BLOCK, NULL, bad));
    SAY(sigprocmask(SIG_BLOCK, &set, bad));
    SAY(pthread_sigmask(99, &set, NULL));
    SAY(pthread_sigmask(SIG_BLOCK, &set, bad));
    SAY(pthread_sigmask(SIG_SETMASK, NULL, NULL));
    SAY(sigsetmask(1 << (number - 1)));
}

static void say_actions(int which)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | 0x00400000};
    sigset_t all;
    sigfillset(&all);
    printf("of %s\n", which == number ? "the signal" : "another");
    SAY(sigaction(which, NULL, NULL));
    SAY(sigaction(which, bad, NULL));
    SAY(sigaction(which, NULL, bad));
    SAY(sigaction(which, &action, &action));
    SAY((sigaction(which, &action, NULL), sigaction(which, NULL, &action), action.sa_flags));
    SAY((action.sa_mask = all, sigaction(which, &action, NULL), sigaction(which, NULL, &action),
         sigismember(&action.sa_mask, SIGKILL) + 2 * sigismember(&action.sa_mask, SIGTERM)));
    SAY((sigaction(which, &action, NULL), sigaction(which, NULL, &action),
         action.sa_restorer != NULL));
    SAY(signal(which, SIG_ERR) == SIG_ERR);
    SAY(signal(which, handle));
    SAY(signal(which, SIG_IGN));
    SAY((signal(which, handle), sigaction(which, NULL, &action), action.sa_flags));
    SAY((__sysv_signal(which, handle), sigaction(which, NULL, &action), action.sa_flags));
    SAY((__sysv_signal(which, handle), raise(which), sigaction(which, NULL, &action),
         action.sa_flags));
    SAY((__sysv_signal(which, handle), sigaction(which, NULL, &action),
         action.sa_handler == handle));
    SAY(__sysv_signal(which, SIG_ERR) == SIG_ERR);
}

static void say_numbers(void)
{
    struct sigaction action = {.sa_handler = handle};
    static const int odd[] = {0, -1, 65, SIGKILL, SIGSTOP, 32, 33};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        int which = odd[i];
        printf("of %d\n", which);
        SAY(sigaction(which, &action, NULL));
        SAY(sigaction(which, NULL, &action));
        SAY(signal(which, handle) == SIG_ERR);
        SAY(__sysv_signal(which, handle) == SIG_ERR);
    }
}

static void say_waits(void)
{
    siginfo_t info;
    struct timespec no_time = {0}, bad_time = {.tv_nsec = -1}, past = {.tv_sec = -1};
    struct timespec some_time = {.tv_nsec = 1000000};
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, number);
    SAY(sigtimedwait(&set, &info, &no_time));
    SAY(sigtimedwait(&set, NULL, &no_time));
    SAY(sigtimedwait(&set, &info, &some_time));
    SAY(sigtimedwait(&set, &info, &bad_time));
    SAY(sigtimedwait(&set, &info, &past));
    SAY(sigtimedwait(bad, &info, &no_time));
    SAY(sigtimedwait(&set, &info, bad));
    SAY((sigprocmask(SIG_BLOCK, &set, NULL), raise(number), sigtimedwait(&set, &info, &some_time)));
    SAY((sigprocmask(SIG_BLOCK, &set, NULL), raise(number), sigwait(&set, &got)));
    SAY((sigprocmask(SIG_BLOCK, &set, NULL), raise(number), sigwaitinfo(&set, &info)));
    SAY(sigwait(bad, &got));
    SAY(sigsuspend(bad));
    SAY(ppoll(NULL, 0, &some_time, &set));
    SAY(ppoll(NULL, 0, &bad_time, NULL));
    SAY(ppoll(bad, 1, &some_time, &set));
    SAY(pselect(0, NULL, NULL, NULL, &some_time, &set));
    SAY(pselect(-1, NULL, NULL, NULL, &some_time, NULL));
    SAY(epoll_pwait(-1, NULL, 1, 0, &set));
    SAY(epoll_pwait(-1, NULL, 0, 0, NULL));
}

/* Memory that ends without a NULL, or an end of a string. */
static void *no_end(const void *content)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 4096, 4096);
    char *place = pages + 4096 - sizeof(char *);
    memcpy(place, content, sizeof(char *));
    return place;
}

static void say_programs(void)
{
    pid_t pid;
    SAY(execve("/nonexistent", no_words, environ));
    SAY(execve("/", no_words, environ));
    SAY(execve("", no_words, environ));
    SAY(execve("/etc/passwd", no_words, environ));
    SAY(execve("/etc/passwd/x", no_words, environ));
    SAY(execve(bad, no_words, environ));
    SAY(execve(NULL, no_words, environ));
    SAY(execve("/bin/true", (char **)bad, environ));
    SAY(execve("/bin/true", no_words, NULL));
    SAY(execve("/bin/true", no_words, bad));
    SAY(execve("/bin/true", no_words, (char *[]){no_words[0], bad, NULL}));
    SAY(execve("/bin/true", no_words, no_end(no_words)));
    SAY(execve("/bin/true", no_words, (char *[]){no_end("eightxxx"), NULL}));
    SAY(execvpe("true", no_words, bad));
    SAY(posix_spawn(NULL, "/bin/true", NULL, NULL, no_words, bad));
    SAY(execv("/nonexistent", no_words));
    SAY(execvp("nonexistent", no_words));
    SAY(execvp("", no_words));
    SAY(execvp("passwd/x", no_words));
    SAY(execvpe("nonexistent", no_words, environ));
    SAY(execl("/nonexistent", "x", (char *)NULL));
    SAY(execlp("nonexistent", "x", (char *)NULL));
    SAY(execle("/nonexistent", "x", (char *)NULL, environ));
    SAY(execveat(-1, "relative", no_words, environ, 0));
    SAY(execveat(AT_FDCWD, "/nonexistent", no_words, environ, 0));
    SAY(execveat(AT_FDCWD, "", no_words, environ, AT_EMPTY_PATH));
    SAY(execveat(AT_FDCWD, "/bin/true", no_words, environ, 0x40000000));
    SAY(fexecve(-1, no_words, environ));
    SAY(fexecve(1000, no_words, environ));
    SAY(fexecve(0, no_words, NULL));
    SAY(posix_spawn(&pid, "/nonexistent", NULL, NULL, no_words, environ));
    SAY(posix_spawn(&pid, "/etc/passwd", NULL, NULL, no_words, environ));
    SAY(posix_spawn(NULL, "/bin/true", NULL, NULL, no_words, NULL));
    SAY(posix_spawnp(&pid, "nonexistent", NULL, NULL, no_words, environ));
    SAY(posix_spawnp(&pid, "", NULL, NULL, no_words, environ));
    SAY(system(NULL));
    SAY(system("exit 3"));
    SAY(system("kill -9 $$"));
    SAY(popen("true", "x") != NULL);
    SAY(popen("exit 5", "r") != NULL);
    SAY(pclose(popen("exit 5", "r")));
}

static void *end_at_once(void *argument)
{
    return argument;
}

static void say_threads(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    struct rlimit limit = {0, 0};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 46);
    SAY(pthread_create(&thread, &attributes, end_at_once, NULL));
    pthread_attr_setstacksize(&attributes, 16384);
    SAY(pthread_create(&thread, &attributes, end_at_once, NULL));
    SAY((setrlimit(RLIMIT_AS, &limit), pthread_create(&thread, &attributes, end_at_once, NULL)));
    SAY(pthread_create(&thread, NULL, end_at_once, NULL));
    SAY(pthread_getattr_np(pthread_self(), &attributes));
    SAY(dlclose(NULL));
    SAY(setcontext(bad));
    SAY(swapcontext(bad, bad));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 98;
    number = atoi(argv[1]);
    burn_until_ns(20000000);
    say_masks();
    say_actions(number);
    say_actions(SIGUSR1);
    say_numbers();
    say_waits();
    say_programs();
    say_threads();
    return 0;
}

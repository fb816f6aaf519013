/* SPDX-License-Identifier: MIT */
/* switch_storm SECONDS [ROUNDS]: two processes that wake one another through pipes, as often as they can on one processor.
 * Before, so many rounds while the parent is stopped. */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Until the other side closes its pipe, or the time is over. */
static void answer(int from, int to, uint64_t end_ns)
{
    char ball;
    while (now_ns() < end_ns && read(from, &ball, 1) == 1 && write(to, &ball, 1) == 1)
        continue;
}

/* After a sleep that rec sees, and without a storm before. */
static int play_unseen(int to, int from, unsigned long rounds)
{
    const struct timespec sleep = {.tv_nsec = 200000000};
    char ball = 'o';
    nanosleep(&sleep, NULL);
    if (kill(getppid(), SIGSTOP) != 0)
        return -1;
    bool is_played = true;
    for (unsigned long i = 0; i < rounds && is_played; i++)
        is_played = write(to, &ball, 1) == 1 && read(from, &ball, 1) == 1;
    return kill(getppid(), SIGCONT) == 0 && is_played ? 0 : -1;
}

static void stay_on_processor(void)
{
    cpu_set_t set;
    int processor = sched_getcpu();
    CPU_ZERO(&set);
    CPU_SET(processor < 0 ? 0 : processor, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
    stay_on_processor();
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        answer(there[0], back[1], UINT64_MAX);
        return 0;
    }
    if (argc > 2 && play_unseen(there[1], back[0], strtoul(argv[2], NULL, 10)) != 0)
        return 1;
    uint64_t end_ns = now_ns() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 1));
    if (write(there[1], "o", 1) != 1)
        return 1;
    answer(back[0], there[1], end_ns);
    close(there[1]);
    return waitpid(child, NULL, 0) != child;
}

/* SPDX-License-Identifier: MIT */
/* switch_storm SECONDS: two processes that wake one another through pipes, as often as they can on one processor. */
#include <sched.h>
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
    uint64_t end_ns = now_ns() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 1));
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        answer(there[0], back[1], UINT64_MAX);
        return 0;
    }
    if (write(there[1], "o", 1) != 1)
        return 1;
    answer(back[0], there[1], end_ns);
    close(there[1]);
    return waitpid(child, NULL, 0) != child;
}

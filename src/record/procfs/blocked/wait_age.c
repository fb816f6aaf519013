/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/wait_age.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "se.exec_start   :   123456.789012": milliseconds with six decimals. */
bool wait_age_parse(uint64_t *exec_start_ns, const char *text)
{
    const char *line = strstr(text, "se.exec_start");
    const char *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        return false;
    char *end;
    uint64_t ms = strtoull(colon + 1, &end, 10);
    if (*end != '.')
        return false;
    const char *decimals = end + 1;
    uint64_t ns = strtoull(decimals, &end, 10);
    *exec_start_ns = ms * 1000000 + ns;
    return end - decimals == 6;
}

/* se.exec_start is the first value of the file (proc_sched_show_task(), kernel/sched/debug.c). */
static bool read_exec_start(const char *path, uint64_t *exec_start_ns)
{
    char text[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 && wait_age_parse(exec_start_ns, text);
}

void wait_clock_begin(struct wait_clock *clock)
{
    *clock = (struct wait_clock){.processor = -1};
    sched_getaffinity(0, sizeof(clock->allowed), &clock->allowed);
}

/* The kernel updates exec_start of the running thread when the thread yields. */
static void move_to(struct wait_clock *clock, int processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    clock->processor = processor;
    clock->is_usable = sched_setaffinity(0, sizeof(one), &one) == 0;
    sched_yield();
    clock->monotonic_ns = monotonic_ns();
    clock->is_usable =
        clock->is_usable && read_exec_start("/proc/thread-self/sched", &clock->scheduler_ns);
}

uint64_t wait_clock_age_ns(struct wait_clock *clock, pid_t pid, pid_t tid, int processor)
{
    char path[64];
    uint64_t start_ns;
    if (processor < 0 || processor >= CPU_SETSIZE)
        return WAIT_AGE_UNKNOWN;
    if (clock->processor != processor)
        move_to(clock, processor);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", (int)pid, (int)tid);
    if (!clock->is_usable || !read_exec_start(path, &start_ns))
        return WAIT_AGE_UNKNOWN;
    uint64_t now_ns = clock->scheduler_ns + (monotonic_ns() - clock->monotonic_ns);
    return now_ns > start_ns ? now_ns - start_ns : 0;
}

void wait_clock_end(const struct wait_clock *clock)
{
    if (clock->processor >= 0)
        sched_setaffinity(0, sizeof(clock->allowed), &clock->allowed);
}

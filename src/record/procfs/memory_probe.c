/* SPDX-License-Identifier: MIT */
/*
 * Reader and watcher agree by one atomic word; only one of the two leaves READS:
 *
 *     IDLE ─▶ READS ─▶ IDLE              the read returns
 *               └────▶ GIVEN_UP ─▶ OVER  the watcher is first; the reader pauses for good
 */
#include "record/procfs/memory_probe.h"

#include "base/clock.h"
#include "wire/atomic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct memory_probe *memory_probe_new(void)
{
    return calloc(1, sizeof(struct memory_probe));
}

/* Mode 0444: readable without the right to trace the process. */
static void read_command_line(pid_t pid)
{
    char path[32], byte;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, &byte, 1);
    (void)got;
    close(fd);
}

void memory_probe_read(struct memory_probe *probe, pid_t pid)
{
    store_relaxed(&probe->begin_ns, monotonic_ns());
    store_release(&probe->state, MEMORY_PROBE_READS);
    read_command_line(pid);
    if (swap_acq_rel(&probe->state, MEMORY_PROBE_READS, MEMORY_PROBE_IDLE))
        return;
    store_release(&probe->state, MEMORY_PROBE_OVER);
    for (;;)
        pause();
}

bool memory_probe_give_up(struct memory_probe *probe, uint64_t now_ns)
{
    if (!probe || load_acquire(&probe->state) != MEMORY_PROBE_READS)
        return false;
    uint64_t begin_ns = load_relaxed(&probe->begin_ns);
    return now_ns > begin_ns && now_ns - begin_ns > MEMORY_PROBE_LIMIT_NS &&
           swap_acq_rel(&probe->state, MEMORY_PROBE_READS, MEMORY_PROBE_GIVEN_UP);
}

bool memory_probe_is_over(const struct memory_probe *probe)
{
    return load_acquire(&probe->state) == MEMORY_PROBE_OVER;
}

void memory_probe_free(struct memory_probe *probe)
{
    if (probe && load_acquire(&probe->state) != MEMORY_PROBE_GIVEN_UP)
        free(probe);
}

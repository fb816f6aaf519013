/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/records/off_rings.h"

#include "base/clock.h"
#include "record/procfs/processors.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Of a ring: 4000 switch records. Locked memory is scarce, the rings of samples have the rest. */
#define RING_BYTES (UINT32_C(128) << 10)
#define SYSTEM_RING_BYTES (UINT32_C(1) << 20)
#define WAKE_RING_BYTES (UINT32_C(4) << 10)
/* An inherited event costs 1.7 us for each new thread of the program. */
enum { WAKE_PROCESSORS_MAX = 8 };

static int open_rings(struct off_events *events, const uint32_t *processors, size_t count,
                      size_t bytes, size_t wakeup_bytes)
{
    int err = 0;
    events->rings = calloc(count + 1, sizeof(*events->rings));
    events->set = event_set_new();
    if (!events->rings || !events->set)
        err = -ENOMEM;
    for (size_t i = 0; err == 0 && i < count; i++) {
        err = kernel_ring_open(&events->rings[i], processors[i], bytes, wakeup_bytes);
        events->count += err == 0;
    }
    events->events = (struct thread_events){
        .rings = events->rings, .ring_count = events->count, .period_ns = 1, .are_switches = true};
    return err;
}

static void close_rings(struct off_events *events)
{
    event_set_release(events->set);
    for (size_t i = 0; i < events->count; i++)
        kernel_ring_close(&events->rings[i]);
    free(events->rings);
    *events = (struct off_events){.count = 0};
}

static size_t list_polled(const struct off_events *events, struct pollfd *polled)
{
    for (size_t i = 0; i < events->count; i++)
        polled[i] = (struct pollfd){.fd = events->rings[i].fd, .events = POLLIN};
    return events->count;
}

int off_rings_open(struct off_rings *rings, enum event_reach reach)
{
    uint32_t *list = calloc(PROCESSORS_MAX, sizeof(*list));
    size_t count = list ? processors_list(NULL, list, PROCESSORS_MAX) : 0;
    *rings = (struct off_rings){.are_wakes_on = false};
    rings->polled = calloc(2 * count + 2, sizeof(*rings->polled));
    int err = !list || !rings->polled ? -ENOMEM : count == 0 ? -ENOENT : 0;
    size_t bytes = reach == REACH_SYSTEM ? SYSTEM_RING_BYTES : RING_BYTES;
    if (err == 0)
        err = open_rings(&rings->records, list, count, bytes, bytes / 4);
    bool has_wakes = err == 0 && count <= WAKE_PROCESSORS_MAX && reach != REACH_SYSTEM;
    if (has_wakes && open_rings(&rings->wakes, list, count, WAKE_RING_BYTES, 1) != 0)
        close_rings(&rings->wakes);
    rings->records.events.reach = rings->wakes.events.reach = reach;
    free(list);
    if (err == 0)
        list_polled(&rings->wakes, rings->polled + list_polled(&rings->records, rings->polled));
    return err;
}

void off_rings_close(struct off_rings *rings)
{
    close_rings(&rings->records);
    close_rings(&rings->wakes);
    free(rings->polled);
    rings->polled = NULL;
}

/* Wake events only save CPU time: after a refusal all are closed, and ticks never rest. */
static int open_events(struct off_rings *rings, pid_t tid, enum event_start start)
{
    struct off_events *wakes = &rings->wakes;
    int err = thread_events_open(&rings->records.events, rings->records.set, tid, start);
    if (err == 0 && wakes->count &&
        thread_events_open(&wakes->events, wakes->set, tid, EVENTS_LATER) != 0)
        close_rings(wakes);
    return err;
}

int off_rings_await_exec(struct off_rings *rings, pid_t tid)
{
    return open_events(rings, tid, EVENTS_AT_EXEC);
}

int off_rings_attach(struct off_rings *rings, pid_t tid)
{
    return open_events(rings, tid, EVENTS_NOW);
}

int off_rings_record_system(struct off_rings *rings, int cgroup_fd)
{
    return system_events_open(&rings->records.events, rings->records.set, cgroup_fd);
}

/* The rings of the records stay open: their last records are still to be read. */
void off_rings_end(struct off_rings *rings)
{
    off_rings_wake(rings, false);
    event_set_close(rings->records.set);
    close_rings(&rings->wakes);
}

/* The kernel puts a thread on another processor after the OUT record is in its ring: an IN record
 * older than the look at any ring follows an OUT record that this look has found. */
uint64_t off_rings_look(struct off_rings *rings)
{
    uint64_t now_ns = monotonic_ns();
    for (size_t i = 0; i < rings->records.count; i++)
        kernel_ring_look(&rings->records.rings[i]);
    return now_ns;
}

bool off_rings_next(struct off_rings *rings, uint64_t until_ns, struct ring_record *record)
{
    size_t bytes;
    struct off_events *records = &rings->records;
    struct kernel_ring *ring =
        ring_record_oldest(records->rings, records->count, until_ns, record, &bytes);
    if (ring) /* what a switch record has is in *record */
        kernel_ring_advance(ring, bytes);
    return ring != NULL;
}

bool off_rings_wake(struct off_rings *rings, bool is_on)
{
    struct off_events *wakes = &rings->wakes;
    if (rings->are_wakes_on == is_on || wakes->count == 0)
        return rings->are_wakes_on;
    for (size_t i = 0; i < wakes->set->count; i++)
        ioctl(wakes->set->fds[i], is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    for (size_t i = 0; i < wakes->count && !is_on; i++) {
        kernel_ring_look(&wakes->rings[i]);
        kernel_ring_skip(&wakes->rings[i]);
    }
    return rings->are_wakes_on = is_on;
}

/* Rings come first in `polled`, both descriptors behind them: without wake rings, in their
 * places. */
bool off_rings_wait(struct off_rings *rings, int wake_fd, int ends_fd, uint64_t wait_ns)
{
    size_t count = rings->records.count + rings->wakes.count;
    const struct timespec timeout = {.tv_sec = (time_t)(wait_ns / 1000000000),
                                     .tv_nsec = (long)(wait_ns % 1000000000)};
    rings->polled[count] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    rings->polled[count + 1] = (struct pollfd){.fd = ends_fd, .events = POLLIN};
    uint64_t wakes;
    ppoll(rings->polled, count + 2, &timeout, NULL);
    while (rings->polled[count].revents && read(wake_fd, &wakes, sizeof(wakes)) > 0)
        continue;
    return rings->polled[count + 1].revents;
}

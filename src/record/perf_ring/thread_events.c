/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/thread_events.h"

#include "base/containers/array.h"
#include "record/events/event_attr.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct event_set *event_set_new(void)
{
    struct event_set *set = calloc(1, sizeof(*set));
    if (set)
        set->users = set->processes = 1;
    return set;
}

struct event_set *event_set_use(struct event_set *set)
{
    if (set) {
        set->users++;
        set->processes++;
    }
    return set;
}

/* read(2) of an event. */
struct event_values {
    uint64_t count;
    uint64_t lost; /* samples without place in the ring */
};

/* Inherited events are included. Kernels before 6.0 have no number of lost samples. */
static struct event_values read_event(int fd)
{
    struct event_values values = {0};
    ssize_t bytes = read(fd, &values, sizeof(values));
    return bytes > 0 ? values : (struct event_values){0};
}

/* The first `clocks` events of each group of `group` count CPU time, in ns. */
static uint64_t count_of_events(const struct event_set *set)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < set->count; i++)
        if (i % set->group < set->clocks)
            sum_ns += read_event(set->fds[i]).count;
    return sum_ns;
}

uint64_t event_set_count_ns(const struct event_set *set)
{
    return set->replaced_ns + count_of_events(set);
}

static uint64_t lost_by_events(const struct event_set *set)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < set->count; i++)
        lost += read_event(set->fds[i]).lost;
    return lost;
}

void event_set_restart(struct event_set *set)
{
    if (set && set->lost)
        set->lost_before = lost_by_events(set);
}

void event_set_cut(struct event_set *set, size_t count)
{
    for (size_t i = count; i < set->count; i++)
        close(set->fds[i]);
    set->count = count;
}

static void close_all(struct event_set *set)
{
    if (set->lost)
        *set->lost += lost_by_events(set) - set->lost_before;
    set->lost_before = 0;
    event_set_cut(set, 0);
}

void event_set_close(struct event_set *set)
{
    if (set)
        close_all(set);
}

void event_set_release(struct event_set *set)
{
    if (!set || --set->users > 0)
        return;
    close_all(set);
    free(set->fds);
    free(set);
}

bool event_set_has(const struct event_set *set, uint64_t id, uint64_t time_ns)
{
    return (id >= set->first_id) == (time_ns >= set->since_ns);
}

bool event_set_needs_chains(const struct event_set *set)
{
    return set->lacks_chains && !set->keeps_chains;
}

void event_set_await(struct event_set *set, const struct event_set *larger)
{
    set->since_ns = UINT64_MAX;
    if (ioctl(larger->fds[0], PERF_EVENT_IOC_ID, &set->first_id) != 0)
        set->first_id = UINT64_MAX;
}

/* Both counted since `larger` was opened. */
void event_set_replace(struct event_set *set, struct event_set *larger, uint64_t since_ns)
{
    const struct event_set old = *set;
    set->since_ns = since_ns;
    set->replaced_ns += count_of_events(set) - count_of_events(larger);
    set->fds = larger->fds;
    set->count = larger->count;
    set->capacity = larger->capacity;
    set->stack_bytes = larger->stack_bytes;
    larger->fds = old.fds;
    larger->count = old.count;
    larger->capacity = old.capacity;
    larger->lost = old.lost;
    larger->lost_before = old.lost_before;
    set->lost_before = 0;
    event_set_close(larger);
}

/* A user may watch the switches of an event without kernel samples (perf_event_open(2),
 * context_switch). A counting task clock has the same PMU in the kernel as the sampling event of a
 * process: a dummy event takes 0.2 us more of each switch. */
static void watch_switches(struct perf_event_attr *attr, enum event_reach reach)
{
    attr->config = reach == REACH_SYSTEM ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_TASK_CLOCK;
    attr->sample_period = 0;
    attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
    attr->sample_regs_user = attr->sample_stack_user = 0;
    attr->exclude_kernel = 1;
    attr->context_switch = 1;
}

/* sigtrap events deliver no samples to rings, so this event is separate from perf_event.c. */
static struct perf_event_attr sampler(const struct thread_events *events, uint32_t event)
{
    struct perf_event_attr attr = event_attr_clock(events->period_ns);
    const struct event_request *request = events->requests ? &events->requests[event] : NULL;
    if (events->reach == REACH_SYSTEM)
        attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.exclude_idle = events->reach == REACH_SYSTEM;
    attr.exclude_kernel = 0;
    if (request)
        event_request_apply(request, &attr);
    attr.inherit = events->reach == REACH_PROCESS || events->reach == REACH_CHILDREN;
    attr.inherit_thread = events->reach == REACH_PROCESS;
    attr.exclude_kernel |= events->exclude_kernel;
    attr.exclude_user |= events->exclude_user;
    if (event == 0) {
        attr.mmap = attr.mmap2 = 1;
        attr.comm = attr.comm_exec = 1;
        attr.task = 1;
    }
    event_attr_take_stacks(&attr, events->stack_bytes);
    attr.read_format = PERF_FORMAT_LOST;
    attr.exclude_callchain_kernel = !events->kernel_stacks;
    attr.exclude_callchain_user = !events->user_chains;
    if (events->are_switches)
        watch_switches(&attr, events->reach);
    return attr;
}

/* On which tasks, and from when on. */
struct event_target {
    int task;
    unsigned long flags;
    enum event_start start;
};

/* The filter comes before the enabling: no sample of a filtered tracepoint is in the ring. */
static int open_sampler(const struct thread_events *events, const struct kernel_ring *ring,
                        const struct event_target *target)
{
    struct perf_event_attr attr = sampler(events, ring->event);
    attr.enable_on_exec = target->start == EVENTS_AT_EXEC;
    int fd = event_open(&attr, target->task, (int)ring->processor, target->flags);
    if (fd == -EINVAL) { /* before Linux 6.0 */
        attr.read_format = 0;
        fd = event_open(&attr, target->task, (int)ring->processor, target->flags);
    }
    if (fd >= 0 &&
        (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0 ||
         (events->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, events->filter) != 0))) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

static size_t count_clocks(const struct thread_events *events)
{
    size_t count = 0;
    bool has_clock = !events->requests || events->requests[0].is_clock;
    while (has_clock && count < events->ring_count && events->rings[count].event == 0)
        count++;
    return count;
}

/* An event for each ring. */
static int open_samplers(const struct thread_events *events, struct event_set *set,
                         const struct event_target *target)
{
    size_t first = set->count;
    set->group = events->ring_count;
    set->clocks = count_clocks(events);
    set->stack_bytes = events->stack_bytes;
    for (size_t i = 0; i < events->ring_count; i++) {
        int fd = open_sampler(events, &events->rings[i], target);
        int *place = fd < 0 ? NULL : ARRAY_PUSH(set->fds, set->count, set->capacity);
        if (!place) {
            if (fd >= 0)
                close(fd);
            event_set_cut(set, first);
            return fd < 0 ? fd : -ENOMEM;
        }
        *place = fd;
    }
    for (size_t i = first; i < set->count && target->start == EVENTS_NOW; i++)
        ioctl(set->fds[i], PERF_EVENT_IOC_ENABLE, 0);
    return 0;
}

int thread_events_open(const struct thread_events *events, struct event_set *set, pid_t tid,
                       enum event_start start)
{
    if (set->most && set->count + events->ring_count > set->most)
        return -EMFILE;
    return open_samplers(events, set, &(struct event_target){.task = tid, .start = start});
}

int system_events_open(const struct thread_events *events, struct event_set *set, int cgroup_fd)
{
    const struct event_target target = {.task = cgroup_fd,
                                        .flags = cgroup_fd < 0 ? 0 : PERF_FLAG_PID_CGROUP};
    return open_samplers(events, set, &target);
}

/* As strict as a recording: an event with registers and stack, on this process. */
int thread_events_probe(void)
{
    const struct thread_events events = {
        .period_ns = 1000000000, .stack_bytes = 8192, .exclude_kernel = true};
    struct perf_event_attr attr = sampler(&events, 0);
    int fd = event_open(&attr, 0, -1, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

bool thread_events_may_sample_kernel(void)
{
    struct perf_event_attr attr = event_attr_clock(0);
    attr.exclude_kernel = 0;
    int fd = event_open(&attr, 0, -1, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

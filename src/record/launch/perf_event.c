/* SPDX-License-Identifier: MIT */
#include "record/launch/perf_event.h"

#include "base/containers/array.h"
#include "base/files/io.h"
#include "record/events/event_attr.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* All flags used here are in the headers of Linux 6.1 (Debian 12). */
static int open_event(pid_t tid, const struct perf_event_config *config)
{
    struct perf_event_attr attr = event_attr_clock(config->period_ns);
    if (config->request)
        event_request_apply(config->request, &attr);
    attr.inherit = 1;
    attr.inherit_thread = 1;
    attr.remove_on_exec = 1;
    attr.sigtrap = 1;
    attr.sig_data = config->sig_data;
    return event_open(&attr, tid, -1, 0);
}

static int add_thread(struct perf_event *event, pid_t tid, const struct perf_event_config *config)
{
    int fd = open_event(tid, config);
    if (fd < 0)
        return fd == -ESRCH ? 0 : fd; /* the thread has ended: no event needed */
    int *place = ARRAY_PUSH(event->fds, event->count, event->capacity);
    if (!place) {
        close(fd);
        return -ENOMEM;
    }
    *place = fd;
    return 0;
}

/* On every thread in /proc/PID/task. */
static int add_threads(struct perf_event *event, const char *path,
                       const struct perf_event_config *config)
{
    DIR *tasks = opendir(path);
    if (!tasks)
        return -errno;
    int err = 0;
    for (const struct dirent *task; err == 0 && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            err = add_thread(event, (pid_t)strtol(task->d_name, NULL, 10), config);
    closedir(tasks);
    return err;
}

/* New threads inherit the events, forked children do not (inherit_thread); an exec removes the
 * events (remove_on_exec). */
int perf_event_open(struct perf_event *event, pid_t pid, bool has_one_thread,
                    const struct perf_event_config *config)
{
    char path[64];
    *event = (struct perf_event){0};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    int err = has_one_thread ? add_thread(event, pid, config) : add_threads(event, path, config);
    if (err == 0 && event->count == 0)
        err = -ESRCH;
    if (err)
        perf_event_close(event);
    return err;
}

void perf_event_enable(const struct perf_event *event)
{
    for (size_t i = 0; i < event->count; i++)
        ioctl(event->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

/* With the inherited events of threads created later. */
uint64_t perf_event_count_ns(const struct perf_event *event)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < event->count; i++) {
        uint64_t count_ns;
        if (read(event->fds[i], &count_ns, sizeof(count_ns)) == (ssize_t)sizeof(count_ns))
            sum_ns += count_ns;
    }
    return sum_ns;
}

void perf_event_close(struct perf_event *event)
{
    for (size_t i = 0; i < event->count; i++)
        close(event->fds[i]);
    free(event->fds);
    *event = (struct perf_event){0};
}

uint32_t perf_event_rate_limit(void)
{
    struct buffer text = {0};
    unsigned long limit = 0;
    if (io_read_file("/proc/sys/kernel/perf_event_max_sample_rate", &text, 64) == 0) {
        buffer_append(&text, "", 1);
        if (!text.failed)
            limit = strtoul((const char *)text.bytes, NULL, 10);
    }
    buffer_free(&text);
    return limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
}

int perf_event_probe(void)
{
    return open_event(0, &(struct perf_event_config){.period_ns = 1000000000});
}

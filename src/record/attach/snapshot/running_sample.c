/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/running_sample.h"

#include "record/events/event_attr.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define STACK_BYTES (32 << 10)
#define RING_BYTES (64 << 10)
#define PERIOD_NS 50000

static int open_event(pid_t tid)
{
    struct perf_event_attr attr = event_attr_clock(PERIOD_NS);
    event_attr_take_stacks(&attr, STACK_BYTES);
    attr.wakeup_events = 1;
    return event_open(&attr, tid, -1, 0);
}

int running_sample_open(struct running_sample *sample, pid_t tid)
{
    *sample = (struct running_sample){.fd = open_event(tid)};
    if (sample->fd < 0)
        return sample->fd;
    void *memory =
        mmap(NULL, PAGE_BYTES + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, sample->fd, 0);
    int err = memory == MAP_FAILED ? -errno : 0;
    sample->page = err ? NULL : memory;
    if (!err && ioctl(sample->fd, PERF_EVENT_IOC_REFRESH, 1) != 0)
        err = -errno;
    if (err)
        running_sample_close(sample);
    return err;
}

void running_sample_close(struct running_sample *sample)
{
    if (sample->page)
        munmap(sample->page, PAGE_BYTES + RING_BYTES);
    if (sample->fd >= 0)
        close(sample->fd);
    *sample = (struct running_sample){.fd = -1};
}

/* The ring holds the first record at its start: nothing is ever freed. */
bool running_sample_take(const struct running_sample *sample, struct ring_record *record)
{
    const uint8_t *data = (const uint8_t *)sample->page + PAGE_BYTES;
    const struct perf_event_header *header = (const void *)data;
    uint64_t head = __atomic_load_n(&sample->page->data_head, __ATOMIC_ACQUIRE);
    return head >= sizeof(*header) && header->size <= head &&
           ring_record_decode(record, data, header->size) && record->type == PERF_RECORD_SAMPLE;
}

/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/kernel_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The size of a record is a u16. */
#define RECORD_BYTES_LIMIT 65536
#define DATA_BYTES_MIN (UINT32_C(64) << 10)

/* The clock must be the clock of the events (perf_event_set_output() in kernel/events/core.c). The
 * event is of the main thread: when the thread of an event has ended, poll() returns at once
 * (POLLHUP), and the rings outlive the thread that opens them. */
static int open_owner(uint32_t processor, size_t wakeup_bytes)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)wakeup_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    long fd =
        syscall(SYS_perf_event_open, &attr, getpid(), (int)processor, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int map_ring(struct kernel_ring *ring, size_t data_bytes, size_t wakeup_bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open_owner(ring->processor, wakeup_bytes < data_bytes ? wakeup_bytes : data_bytes / 4);
    if (fd < 0)
        return fd;
    void *memory = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        int err = -errno;
        close(fd);
        return err;
    }
    ring->fd = fd;
    ring->page = memory;
    ring->data = (const uint8_t *)memory + page_bytes;
    ring->data_bytes = data_bytes;
    return 0;
}

/* Beyond RLIMIT_MEMLOCK and perf_event_mlock_kb the kernel returns EPERM (perf_mmap() in
 * kernel/events/core.c), and ENOMEM without memory of its own. A small ring is better than none. */
int kernel_ring_open(struct kernel_ring *ring, uint32_t processor, size_t data_bytes,
                     size_t wakeup_bytes)
{
    *ring = (struct kernel_ring){.fd = -1, .processor = processor};
    ring->joined = malloc(RECORD_BYTES_LIMIT);
    int err = ring->joined ? map_ring(ring, data_bytes, wakeup_bytes) : -ENOMEM;
    while ((err == -EPERM || err == -ENOMEM) && ring->joined && data_bytes > DATA_BYTES_MIN) {
        data_bytes /= 2;
        err = map_ring(ring, data_bytes, wakeup_bytes);
    }
    if (err)
        kernel_ring_close(ring);
    return err;
}

void kernel_ring_close(struct kernel_ring *ring)
{
    if (ring->page)
        munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->data_bytes);
    if (ring->fd >= 0)
        close(ring->fd);
    free(ring->joined);
    *ring = (struct kernel_ring){.fd = -1};
}

/* Pairs with the release of the kernel after it has written the record (linux/perf_event.h). */
void kernel_ring_look(struct kernel_ring *ring)
{
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Records are multiples of 8 bytes: a header never crosses the end of the ring. Nothing can be
 * found behind a record of an impossible size, so all records in view are dropped. */
const uint8_t *kernel_ring_next(struct kernel_ring *ring, size_t *bytes)
{
    struct perf_event_header header;
    if (ring->head - ring->tail < sizeof(header))
        return NULL;
    size_t at = (size_t)(ring->tail & (ring->data_bytes - 1));
    memcpy(&header, ring->data + at, sizeof(header));
    if (header.size < sizeof(header) || header.size > ring->head - ring->tail) {
        kernel_ring_skip(ring);
        return NULL;
    }
    *bytes = header.size;
    size_t first = ring->data_bytes - at;
    if (header.size <= first)
        return ring->data + at;
    memcpy(ring->joined, ring->data + at, first);
    memcpy(ring->joined + first, ring->data, header.size - first);
    return ring->joined;
}

/* The kernel may overwrite the bytes before the tail from now on. */
static void move_tail(struct kernel_ring *ring, uint64_t tail)
{
    ring->tail = tail;
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

void kernel_ring_advance(struct kernel_ring *ring, size_t bytes)
{
    move_tail(ring, ring->tail + bytes);
}

void kernel_ring_skip(struct kernel_ring *ring)
{
    move_tail(ring, ring->head);
}

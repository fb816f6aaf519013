/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/ring_copier.h"

#include "base/prompt_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void signal_event(int fd)
{
    const uint64_t one = 1;
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

static void clear_event(int fd)
{
    uint64_t count;
    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        continue;
}

/* The lock is held for one record only: the walks go on while a ring is copied. */
static bool add(struct ring_copier *copier, size_t i, const struct ring_record *record)
{
    pthread_mutex_lock(&copier->lock);
    bool is_added = ring_backlog_add(&copier->backlog, i, record);
    pthread_mutex_unlock(&copier->lock);
    return is_added;
}

/* Frees the place of the records in the ring. A record that is too short for its type is left out;
 * records beyond the backlog's limit stay in the ring, where the kernel counts the losses. */
static void copy_ring(struct ring_copier *copier, size_t i)
{
    struct kernel_ring *ring = &copier->rings[i];
    const uint8_t *next;
    size_t bytes;
    pthread_mutex_lock(&copier->copying);
    kernel_ring_look(ring);
    while ((next = kernel_ring_next(ring, &bytes))) {
        struct ring_record record;
        bool is_whole = ring_record_decode(&record, next, bytes);
        record.event = ring->event;
        record.processor = ring->processor;
        if (is_whole && !add(copier, i, &record))
            break;
        kernel_ring_advance(ring, bytes);
    }
    pthread_mutex_unlock(&copier->copying);
}

/* The event is cleared first: what the thread copies from now on sets it again. */
void ring_copier_copy(struct ring_copier *copier)
{
    clear_event(copier->copied_fd);
    for (size_t i = 0; i < copier->ring_count; i++)
        copy_ring(copier, i);
}

static void *copier_thread(void *argument)
{
    struct ring_copier *copier = argument;
    const struct pollfd *stop = &copier->polled[copier->ring_count];
    prompt_thread_begin();
    while (poll(copier->polled, copier->ring_count + 1, -1) < 0 || !stop->revents) {
        for (size_t i = 0; i < copier->ring_count; i++)
            if (copier->polled[i].revents)
                copy_ring(copier, i);
        signal_event(copier->copied_fd);
    }
    return NULL;
}

/* Signals are for the threads that wait for them. */
static int start_thread(struct ring_copier *copier)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = -pthread_create(&copier->thread, NULL, copier_thread, copier);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    copier->has_thread = err == 0;
    return err;
}

int ring_copier_start(struct ring_copier *copier, struct kernel_ring *rings, size_t ring_count)
{
    *copier = (struct ring_copier){.rings = rings, .ring_count = ring_count};
    pthread_mutex_init(&copier->copying, NULL);
    pthread_mutex_init(&copier->lock, NULL);
    copier->stop_fd = eventfd(0, EFD_CLOEXEC);
    copier->copied_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    copier->polled = calloc(ring_count + 1, sizeof(*copier->polled));
    if (copier->stop_fd < 0 || copier->copied_fd < 0)
        return -EMFILE;
    if (!copier->polled || ring_backlog_open(&copier->backlog, ring_count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < ring_count; i++)
        copier->polled[i] = (struct pollfd){.fd = rings[i].fd, .events = POLLIN};
    copier->polled[ring_count] = (struct pollfd){.fd = copier->stop_fd, .events = POLLIN};
    return start_thread(copier);
}

void ring_copier_stop(struct ring_copier *copier)
{
    if (!copier->has_thread)
        return;
    signal_event(copier->stop_fd);
    pthread_join(copier->thread, NULL);
    copier->has_thread = false;
}

void ring_copier_free(struct ring_copier *copier)
{
    if (!copier->rings)
        return;
    ring_copier_stop(copier);
    ring_backlog_free(&copier->backlog);
    free(copier->polled);
    if (copier->stop_fd >= 0)
        close(copier->stop_fd);
    if (copier->copied_fd >= 0)
        close(copier->copied_fd);
    pthread_mutex_destroy(&copier->copying);
    pthread_mutex_destroy(&copier->lock);
    *copier = (struct ring_copier){.rings = NULL};
}

/* The record is read without the lock: chunks do not move, and only this thread drops records. */
const struct ring_record *ring_copier_next(struct ring_copier *copier, uint64_t until_ns)
{
    pthread_mutex_lock(&copier->lock);
    const struct ring_record *record = ring_backlog_next(&copier->backlog, until_ns);
    pthread_mutex_unlock(&copier->lock);
    return record;
}

bool ring_copier_has_records(struct ring_copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    bool has_records = copier->backlog.count > 0;
    pthread_mutex_unlock(&copier->lock);
    return has_records;
}

bool ring_copier_has_start(struct ring_copier *copier, pid_t pid)
{
    pthread_mutex_lock(&copier->lock);
    bool has_start = ring_backlog_has_start(&copier->backlog, pid);
    pthread_mutex_unlock(&copier->lock);
    return has_start;
}

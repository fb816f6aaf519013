/* SPDX-License-Identifier: MIT */
#include "record/jit/code_reader.h"

#include "base/clock.h"

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

/* A read takes 1 to 30 us. A loaded machine may not run the thread for some time. */
#define LIMIT_NS UINT64_C(200000000)

struct code_reader {
    pthread_t thread;
    sem_t requested, done;
    bool is_late; /* `done` of an earlier request is still to come */
    /* From the owner to the thread, and back. */
    bool is_last;
    pid_t pid;
    uint64_t avma;
    size_t bytes, got;
    uint8_t code[CODE_READ_BYTES_MAX];
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void *code_reader_thread(void *argument)
{
    struct code_reader *reader = argument;
    for (wait_for(&reader->requested); !reader->is_last; wait_for(&reader->requested)) {
        const struct iovec here = {reader->code, reader->bytes};
        const struct iovec there = {(void *)(uintptr_t)reader->avma, reader->bytes};
        ssize_t got = process_vm_readv(reader->pid, &here, 1, &there, 1, 0);
        reader->got = got > 0 ? (size_t)got : 0;
        sem_post(&reader->done);
    }
    return NULL;
}

struct code_reader *code_reader_open(void)
{
    struct code_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    sem_init(&reader->requested, 0, 0);
    sem_init(&reader->done, 0, 0);
    if (pthread_create(&reader->thread, NULL, code_reader_thread, reader) == 0)
        return reader;
    free(reader);
    return NULL;
}

/* False: the thread still reads. */
static bool is_idle(struct code_reader *reader)
{
    if (reader->is_late && sem_trywait(&reader->done) == 0)
        reader->is_late = false;
    return !reader->is_late;
}

static bool is_done_in_time(struct code_reader *reader)
{
    const uint64_t end_ns = monotonic_ns() + LIMIT_NS;
    const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000),
                                 .tv_nsec = (long)(end_ns % 1000000000)};
    int err;
    while ((err = sem_clockwait(&reader->done, CLOCK_MONOTONIC, &end)) != 0 && errno == EINTR)
        ;
    return err == 0;
}

const uint8_t *code_reader_read(struct code_reader *reader, pid_t pid, uint64_t avma, size_t bytes)
{
    if (bytes > sizeof(reader->code) || !is_idle(reader))
        return NULL;
    reader->pid = pid;
    reader->avma = avma;
    reader->bytes = bytes;
    sem_post(&reader->requested);
    reader->is_late = !is_done_in_time(reader);
    return !reader->is_late && reader->got == bytes ? reader->code : NULL;
}

void code_reader_close(struct code_reader *reader)
{
    if (!reader)
        return;
    /* The thread still writes to *reader: the memory stays with the thread. */
    if (!is_idle(reader)) {
        pthread_detach(reader->thread);
        return;
    }
    reader->is_last = true;
    sem_post(&reader->requested);
    pthread_join(reader->thread, NULL);
    sem_destroy(&reader->requested);
    sem_destroy(&reader->done);
    free(reader);
}

/* SPDX-License-Identifier: MIT */
/* perf.data files with several events and samples of every kind, and their profiles. */
#pragma once

#include "../perfdata/perf_file.h"
#include "base/containers/buffer.h"
#include "convert/convert.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    RAW_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
    RAW_CALLCHAIN_DEFERRED = 22,
    RAW_EVENTS = 8,
};

struct raw {
    struct file file;
    uint64_t time_ns; /* of the next record, which moves it on */
};

/* Event i has the id 100 + i; sample types are added to what all have. */
static inline struct raw raw_begin(const struct event *events, size_t count)
{
    struct event all[RAW_EVENTS];
    assert_true(count <= RAW_EVENTS);
    for (size_t i = 0; i < count; i++) {
        all[i] = events[i];
        all[i].sample_type |= RAW_SAMPLE_TYPE;
        all[i].flags = events[i].flags ?: "ac";
        all[i].period = 1;
        all[i].id = 100 + i;
    }
    return (struct raw){.file = begin_file(false, all, count), .time_ns = 1000};
}

static inline void raw_record(struct raw *raw, uint32_t type, uint16_t misc)
{
    begin_record(&raw->file, type, misc);
}

static inline void raw_end_record(struct raw *raw)
{
    buffer_zeros(&raw->file.bytes, -raw->file.bytes.size & 7);
    end_record(&raw->file);
    raw->time_ns += 1000;
}

static inline void raw_trailer(struct raw *raw, uint32_t pid, uint32_t tid)
{
    put32(&raw->file, pid);
    put32(&raw->file, tid);
    put64(&raw->file, raw->time_ns);
    put64(&raw->file, 0); /* CPU */
    put64(&raw->file, 100);
    raw_end_record(raw);
}

static inline void raw_named(struct raw *raw, uint16_t misc, uint32_t pid, uint32_t tid,
                             const char *name)
{
    raw_record(raw, PERF_RECORD_COMM, misc);
    put32(&raw->file, pid);
    put32(&raw->file, tid);
    buffer_append(&raw->file.bytes, name, strlen(name) + 1);
    buffer_zeros(&raw->file.bytes, -raw->file.bytes.size & 7);
    raw_trailer(raw, pid, tid);
}

static inline void raw_comm(struct raw *raw, uint32_t pid, uint32_t tid, const char *name)
{
    raw_named(raw, 0, pid, tid, name);
}

static inline void raw_exec(struct raw *raw, uint32_t pid, const char *name)
{
    raw_named(raw, PERF_RECORD_MISC_COMM_EXEC, pid, pid, name);
}

static inline void raw_mmap(struct raw *raw, uint32_t pid, uint64_t start, uint64_t bytes,
                            const char *path)
{
    raw_record(raw, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    put32(&raw->file, pid);
    put32(&raw->file, pid);
    put64(&raw->file, start);
    put64(&raw->file, bytes);
    put64(&raw->file, 0);
    buffer_append(&raw->file.bytes, path, strlen(path) + 1);
    buffer_zeros(&raw->file.bytes, -raw->file.bytes.size & 7);
    raw_trailer(raw, pid, pid);
}

static inline void raw_fork(struct raw *raw, uint16_t misc, uint32_t parent, uint32_t pid)
{
    raw_record(raw, PERF_RECORD_FORK, misc);
    put32(&raw->file, pid);
    put32(&raw->file, parent);
    put32(&raw->file, pid);
    put32(&raw->file, parent);
    put64(&raw->file, raw->time_ns);
    raw_trailer(raw, pid, pid);
}

static inline void raw_switch(struct raw *raw, uint32_t pid, uint32_t tid, bool is_out)
{
    raw_record(raw, PERF_RECORD_SWITCH, is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0);
    raw_trailer(raw, pid, tid);
}

/* A sample up to its period. */
static inline void raw_begin_sample(struct raw *raw, uint16_t misc, size_t event, uint32_t pid,
                                    uint32_t tid, uint32_t cpu, uint64_t ip)
{
    raw_record(raw, PERF_RECORD_SAMPLE, misc);
    put64(&raw->file, 100 + event);
    put64(&raw->file, ip);
    put32(&raw->file, pid);
    put32(&raw->file, tid);
    put64(&raw->file, raw->time_ns);
    put32(&raw->file, cpu);
    put32(&raw->file, 0);
    put64(&raw->file, 5); /* period */
}

/* A sample up to its callchain; what the event has more of follows, then raw_end_record(). */
static inline void raw_sample(struct raw *raw, uint16_t misc, size_t event, uint32_t pid,
                              uint32_t tid, uint32_t cpu, uint64_t ip, const uint64_t *chain,
                              size_t count)
{
    raw_begin_sample(raw, misc, event, pid, tid, cpu, ip);
    put64(&raw->file, count);
    for (size_t i = 0; i < count; i++)
        put64(&raw->file, chain[i]);
}

#define RAW_SAMPLE(raw, misc, event, pid, tid, ...)                                     \
    do {                                                                                \
        const uint64_t raw_chain[] = {__VA_ARGS__};                                     \
        raw_sample(raw, misc, event, pid, tid, 0, 0, raw_chain, sizeof(raw_chain) / 8); \
        raw_end_record(raw);                                                            \
    } while (0)

static inline void raw_deferred(struct raw *raw, uint32_t pid, uint32_t tid, uint64_t cookie,
                                const uint64_t *ips, size_t count)
{
    raw_record(raw, RAW_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
    put64(&raw->file, cookie);
    put64(&raw->file, count);
    for (size_t i = 0; i < count; i++)
        put64(&raw->file, ips[i]);
    raw_trailer(raw, pid, tid);
}

/* The file's profile, or NULL and what convert_load() had to say. */
static inline struct profile *raw_try(struct raw *raw, const struct convert_options *options,
                                      struct error *error)
{
    struct buffer *bytes = &raw->file.bytes;
    finish_file(&raw->file);
    char path[] = "/tmp/rec-raw-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !bytes->failed);
    assert_int_equal(write(fd, bytes->bytes, bytes->size), (ssize_t)bytes->size);
    close(fd);
    struct profile *profile = NULL;
    (void)convert_load(&profile, path, options, error);
    unlink(path);
    return profile;
}

static inline struct profile *raw_load(struct raw *raw, const struct convert_options *options)
{
    struct error error = {{0}};
    struct profile *profile = raw_try(raw, options, &error);
    if (!profile)
        fail_msg("%s", error.text);
    buffer_free(&raw->file.bytes);
    return profile;
}

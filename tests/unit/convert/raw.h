/* SPDX-License-Identifier: MIT */
/* perf.data files with several events and samples of every kind, written field by field. */
#pragma once

#include "base/buffer.h"
#include "convert/load.h"

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

struct raw_event {
    uint32_t type;
    uint64_t config;
    uint64_t extra_sample_type; /* besides what all have */
    uint64_t branch_sample_type, registers_user, read_format;
    bool is_inherited;
};

enum {
    RAW_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
    RAW_ATTR_BYTES = 112,
    RAW_CALLCHAIN_DEFERRED = 22,
};

struct raw {
    struct buffer bytes;
    size_t data, record;
    uint64_t time_ns; /* of the next record, which moves it on */
};

static inline void raw_u16(struct raw *raw, uint16_t value)
{
    buffer_append(&raw->bytes, &value, sizeof(value));
}

static inline void raw_u32(struct raw *raw, uint32_t value)
{
    buffer_append(&raw->bytes, &value, sizeof(value));
}

static inline void raw_u64(struct raw *raw, uint64_t value)
{
    buffer_append(&raw->bytes, &value, sizeof(value));
}

/* Event i has the id 100 + i. */
static inline struct raw raw_begin(const struct raw_event *events, size_t count)
{
    struct raw raw = {.time_ns = 1000};
    size_t attrs = 104 + 8 * count, attrs_bytes = (RAW_ATTR_BYTES + 16) * count;
    buffer_text(&raw.bytes, "PERFILE2");
    const uint64_t header[] = {104, RAW_ATTR_BYTES + 16, attrs, attrs_bytes, attrs + attrs_bytes};
    buffer_append(&raw.bytes, header, sizeof(header));
    buffer_zeros(&raw.bytes, 104 - raw.bytes.size);
    for (size_t i = 0; i < count; i++)
        raw_u64(&raw, 100 + i);
    for (size_t i = 0; i < count; i++) {
        raw_u32(&raw, events[i].type);
        raw_u32(&raw, RAW_ATTR_BYTES);
        raw_u64(&raw, events[i].config);
        raw_u64(&raw, 1);
        raw_u64(&raw, RAW_SAMPLE_TYPE | events[i].extra_sample_type);
        raw_u64(&raw, events[i].read_format);
        /* inherit, sample_id_all, context_switch */
        raw_u64(&raw,
                (uint64_t)events[i].is_inherited << 1 | UINT64_C(1) << 18 | UINT64_C(1) << 26);
        buffer_zeros(&raw.bytes, 24);
        raw_u64(&raw, events[i].branch_sample_type);
        raw_u64(&raw, events[i].registers_user);
        buffer_zeros(&raw.bytes, RAW_ATTR_BYTES - 88);
        raw_u64(&raw, 104 + 8 * i);
        raw_u64(&raw, 8);
    }
    raw.data = raw.bytes.size;
    return raw;
}

static inline void raw_record(struct raw *raw, uint32_t type, uint16_t misc)
{
    raw->record = raw->bytes.size;
    raw_u32(raw, type);
    raw_u16(raw, misc);
    raw_u16(raw, 0);
}

static inline void raw_end_record(struct raw *raw)
{
    buffer_zeros(&raw->bytes, -raw->bytes.size & 7);
    uint16_t size = (uint16_t)(raw->bytes.size - raw->record);
    memcpy(raw->bytes.bytes + raw->record + 6, &size, sizeof(size));
    raw->time_ns += 1000;
}

static inline void raw_trailer(struct raw *raw, uint32_t pid, uint32_t tid)
{
    raw_u32(raw, pid);
    raw_u32(raw, tid);
    raw_u64(raw, raw->time_ns);
    raw_u64(raw, 0); /* CPU */
    raw_u64(raw, 100);
    raw_end_record(raw);
}

static inline void raw_named(struct raw *raw, uint16_t misc, uint32_t pid, uint32_t tid,
                             const char *name)
{
    raw_record(raw, PERF_RECORD_COMM, misc);
    raw_u32(raw, pid);
    raw_u32(raw, tid);
    buffer_append(&raw->bytes, name, strlen(name) + 1);
    buffer_zeros(&raw->bytes, -raw->bytes.size & 7);
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
    raw_u32(raw, pid);
    raw_u32(raw, pid);
    raw_u64(raw, start);
    raw_u64(raw, bytes);
    raw_u64(raw, 0);
    buffer_append(&raw->bytes, path, strlen(path) + 1);
    buffer_zeros(&raw->bytes, -raw->bytes.size & 7);
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
    raw_u64(raw, 100 + event);
    raw_u64(raw, ip);
    raw_u32(raw, pid);
    raw_u32(raw, tid);
    raw_u64(raw, raw->time_ns);
    raw_u32(raw, cpu);
    raw_u32(raw, 0);
    raw_u64(raw, 5); /* period */
}

/* A sample up to its callchain; what the event has more of follows, then raw_end_record(). */
static inline void raw_sample(struct raw *raw, uint16_t misc, size_t event, uint32_t pid,
                              uint32_t tid, uint32_t cpu, uint64_t ip, const uint64_t *chain,
                              size_t count)
{
    raw_begin_sample(raw, misc, event, pid, tid, cpu, ip);
    raw_u64(raw, count);
    for (size_t i = 0; i < count; i++)
        raw_u64(raw, chain[i]);
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
    raw_u64(raw, cookie);
    raw_u64(raw, count);
    for (size_t i = 0; i < count; i++)
        raw_u64(raw, ips[i]);
    raw_trailer(raw, pid, tid);
}

/* The file's profile, or NULL and what convert_load() had to say. */
static inline struct profile *raw_try(struct raw *raw, const struct convert_options *options,
                                      struct error *error)
{
    uint64_t size = raw->bytes.size - raw->data;
    memcpy(raw->bytes.bytes + 48, &size, sizeof(size));
    char path[] = "/tmp/rec-raw-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !raw->bytes.failed);
    assert_int_equal(write(fd, raw->bytes.bytes, raw->bytes.size), (ssize_t)raw->bytes.size);
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
    buffer_free(&raw->bytes);
    return profile;
}

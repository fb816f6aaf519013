/* SPDX-License-Identifier: MIT */
/*
 * perf.data files built field by field from perf_event_open(2) and perf's perf.data-file-format.txt, in
 * both byte orders.
 */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct event {
    uint64_t sample_type, read_format;
    uint64_t branch_sample_type, registers_user;
    uint32_t type; /* 0: hardware */
    uint64_t config;
    uint64_t period;   /* or frequency */
    const char *flags; /* letters: see put_flags() */
    uint64_t id;       /* in the attr's id section; 0: no section */
};

struct file {
    bool big; /* byte order */
    struct buffer bytes;
    size_t data, record;
    struct buffer features[256];
};

static inline void put(struct buffer *out, bool big, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_u8(out, (uint8_t)(value >> 8 * (big ? size - 1 - i : i)));
}

static inline void put16(struct file *file, unsigned value)
{
    put(&file->bytes, file->big, value, 2);
}

static inline void put32(struct file *file, uint32_t value)
{
    put(&file->bytes, file->big, value, 4);
}

static inline void put64(struct file *file, uint64_t value)
{
    put(&file->bytes, file->big, value, 8);
}

static inline void patch64(struct file *file, size_t at, uint64_t value)
{
    struct buffer word = {0};
    put(&word, file->big, value, 8);
    memcpy(file->bytes.bytes + at, word.bytes, 8);
    buffer_free(&word);
}

/* i inherit, f frequency, a sample_id_all, c context_switch. Bit fields fill a big-endian host's bytes from
 * the top. */
static inline void put_flags(struct file *file, const char *letters)
{
    uint8_t bytes[8] = {0};
    for (; *letters; letters++) {
        unsigned bit = *letters == 'i' ? 1 : *letters == 'f' ? 10 : *letters == 'a' ? 18 : 26;
        bytes[bit / 8] |= (uint8_t)(file->big ? 0x80 >> bit % 8 : 1 << bit % 8);
    }
    buffer_append(&file->bytes, bytes, sizeof(bytes));
}

static inline void put_attr(struct file *file, const struct event *event)
{
    put32(file, event->type);
    put32(file, 112);
    put64(file, event->config); /* 0: cycles */
    put64(file, event->period);
    put64(file, event->sample_type);
    put64(file, event->read_format);
    put_flags(file, event->flags ? event->flags : "");
    for (int i = 0; i < 3; i++)
        put64(file, 0);
    put64(file, event->branch_sample_type);
    put64(file, event->registers_user);
    for (int i = 0; i < 3; i++)
        put64(file, 0);
}

static inline struct file begin_file(bool big, const struct event *events, size_t count)
{
    struct file file = {.big = big};
    buffer_text(&file.bytes, big ? "2ELIFREP" : "PERFILE2");
    if (big && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        memcpy(file.bytes.bytes, "PERFILE2", 8);
    put64(&file, 104);
    put64(&file, 112 + 16);
    put64(&file, 104 + 8 * count);
    put64(&file, 128 * count);
    put64(&file, 104 + 8 * count + 128 * count);
    put64(&file, 0); /* patched */
    for (int i = 0; i < 6; i++)
        put64(&file, 0);
    for (size_t i = 0; i < count; i++)
        put64(&file, events[i].id);
    for (size_t i = 0; i < count; i++) {
        put_attr(&file, &events[i]);
        put64(&file, 104 + 8 * i);
        put64(&file, events[i].id ? 8 : 0);
    }
    file.data = file.bytes.size;
    return file;
}

static inline void begin_record(struct file *file, uint32_t type, unsigned misc)
{
    file->record = file->bytes.size;
    put32(file, type);
    put16(file, misc);
    put16(file, 0);
}

static inline void end_record(struct file *file)
{
    size_t size = file->bytes.size - file->record;
    file->bytes.bytes[file->record + (file->big ? 7 : 6)] = (uint8_t)size;
    file->bytes.bytes[file->record + (file->big ? 6 : 7)] = (uint8_t)(size >> 8);
}

/* Patches sizes and adds the features, once all records are there. */
static inline void finish_file(struct file *file)
{
    size_t data_end = file->bytes.size, count = 0;
    uint64_t words[4] = {0};
    patch64(file, 48, data_end - file->data);
    for (size_t bit = 0; bit < 256; bit++)
        if (file->features[bit].size) {
            words[bit / 64] |= UINT64_C(1) << bit % 64;
            count++;
        }
    for (size_t i = 0; i < 4; i++)
        patch64(file, 72 + 8 * i, words[i]);
    size_t payload = data_end + 16 * count;
    for (size_t bit = 0; bit < 256; bit++)
        if (file->features[bit].size) {
            put64(file, payload);
            put64(file, file->features[bit].size);
            payload += file->features[bit].size;
        }
    for (size_t bit = 0; bit < 256; bit++) {
        buffer_append(&file->bytes, file->features[bit].bytes, file->features[bit].size);
        buffer_free(&file->features[bit]);
    }
}

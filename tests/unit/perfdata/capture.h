/* SPDX-License-Identifier: MIT */
/* What the tests of perf.data share: a small recording, and events as lines of text. */
#pragma once

#include "base/containers/buffer.h"
#include "base/files/io.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static inline int memory_file(void)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static inline size_t file_size(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return (size_t)status.st_size;
}

/* The whole file; the caller frees it. */
static inline uint8_t *file_bytes(int fd, size_t *size)
{
    *size = file_size(fd);
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(io_pread(fd, bytes, *size, 0), 0);
    return bytes;
}

static const char *const capture_argv[] = {"/opt/app/serve", "--port", "80", NULL};

static inline struct perfdata_config capture_config(void)
{
    return (struct perfdata_config){
        .start_time_ns = 5000000000,
        .start_wall_ns = 1700000000123456789,
        .exclude_kernel = true,
        .events = {{.name = "cpu-clock:u", .period = 1000000}},
        .argv = capture_argv,
    };
}

static const struct perfdata_mapping capture_mapping = {
    .pid = 100,
    .tid = 100,
    .time_ns = 0,
    .start_avma = 0x400000,
    .bytes = 0x10000,
    .file_offset = 0x1000,
    .protection = PROT_READ | PROT_EXEC,
    .path = "/opt/app/serve",
    .build_id = {0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
    .build_id_bytes = 20,
};

static const uint64_t capture_stack[] = {0x400123, 0x400456, 0x400789};

/* A process that names itself, maps its program, samples itself three times, and has a child that
 * ends. */
static inline void write_capture(struct perfdata_writer *writer)
{
    struct perfdata_task leader = {.pid = 100, .tid = 100};
    struct perfdata_task child = {
        .pid = 101, .tid = 101, .parent_pid = 100, .parent_tid = 100, .time_ns = 5000000300};
    assert_int_equal(perfdata_write_comm(writer, &leader, "serve", true), 0);
    assert_int_equal(perfdata_write_mapping(writer, &capture_mapping), 0);
    for (size_t i = 0; i < 3; i++) {
        struct perfdata_sample sample = {.pid = 100,
                                         .tid = 100 + (uint32_t)(i == 2),
                                         .time_ns = 5000000100 + i,
                                         .weight = 1000 * (i + 1),
                                         .frames = capture_stack,
                                         .frame_count = 3 - i};
        assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    }
    assert_int_equal(perfdata_write_round(writer), 0);
    assert_int_equal(perfdata_write_fork(writer, &child), 0);
    assert_int_equal(perfdata_write_exit(writer, &child), 0);
}

static inline struct perfdata_writer *open_packing_writer(int fd, int level)
{
    struct perfdata_config config = capture_config();
    config.compression_level = level;
    struct perfdata_writer *writer;
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), 0);
    return writer;
}

static inline struct perfdata_writer *open_writer(int fd)
{
    return open_packing_writer(fd, 0);
}

/* A finished recording of write_capture(). */
static inline int finished_capture(void)
{
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    write_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    return fd;
}

static inline struct perfdata_reader *open_reader(int fd)
{
    struct perfdata_reader *reader;
    struct error error = {0};
    if (perfdata_reader_open(&reader, fd, "capture", &error) != 0)
        fail_msg("%s", error.text);
    return reader;
}

static inline void print_sample(struct buffer *out, const struct perfdata_event *event)
{
    buffer_printf(out, "sample #%zu %u/%u @%llu ip %llx period %llu cpu %d chain",
                  event->attr_index, event->pid, event->tid, (unsigned long long)event->time_ns,
                  (unsigned long long)event->ip, (unsigned long long)event->period,
                  (int)event->cpu);
    for (size_t i = 0; i < event->callchain_count; i++)
        buffer_printf(out, " %llx", (unsigned long long)event->callchain[i]);
    if (event->user_registers_mask)
        buffer_printf(out, " registers %llx: %llx", (unsigned long long)event->user_registers_mask,
                      (unsigned long long)event->user_registers[0]);
    if (event->user_stack_bytes)
        buffer_printf(out, " stack %zu: %02x", event->user_stack_bytes, event->user_stack[0]);
}

static inline void print_mapping(struct buffer *out, const struct perfdata_event *event)
{
    buffer_printf(out, "map %u/%u @%llu %llx+%llx from %llx prot %u%s %s", event->pid, event->tid,
                  (unsigned long long)event->time_ns, (unsigned long long)event->start_avma,
                  (unsigned long long)event->bytes, (unsigned long long)event->file_offset,
                  event->protection, event->is_kernel ? " kernel" : "", event->path);
    for (size_t i = 0; i < event->build_id_bytes; i++)
        buffer_printf(out, "%s%02x", i ? "" : " ", event->build_id[i]);
}

/* One event as a line; ROUND and OTHER too. */
static inline void print_event(struct buffer *out, const struct perfdata_event *event)
{
    switch (event->kind) {
    case PERFDATA_SAMPLE:
        print_sample(out, event);
        break;
    case PERFDATA_MAPPING:
        print_mapping(out, event);
        break;
    case PERFDATA_COMM:
        buffer_printf(out, "comm %u/%u @%llu %s%s", event->pid, event->tid,
                      (unsigned long long)event->time_ns, event->name,
                      event->is_exec ? " exec" : "");
        break;
    case PERFDATA_FORK:
    case PERFDATA_EXIT:
        buffer_printf(out, "%s %u/%u of %u/%u @%llu",
                      event->kind == PERFDATA_FORK ? "fork" : "exit", event->pid, event->tid,
                      event->parent_pid, event->parent_tid, (unsigned long long)event->time_ns);
        break;
    case PERFDATA_LOST:
        buffer_printf(out, "lost %llu @%llu", (unsigned long long)event->lost,
                      (unsigned long long)event->time_ns);
        break;
    case PERFDATA_ROUND:
        buffer_text(out, "round");
        break;
    default:
        buffer_printf(out, "other %u", event->record.type);
        break;
    }
    buffer_u8(out, '\n');
}

/* What is read before decoding equals what is decoded. */
static inline void check_peek(const struct perfdata_reader *reader,
                              const struct perfdata_event *event)
{
    struct perfdata_stack stack;
    assert_int_equal(event->record.time_ns, event->time_ns);
    assert_int_equal(event->record.ends_round, event->kind == PERFDATA_ROUND);
    bool is_found = perfdata_find_stack(reader, &event->record, &stack);
    assert_int_equal(is_found, event->kind == PERFDATA_SAMPLE && event->callchain_count &&
                                   event->user_abi == PERFDATA_ABI_NONE &&
                                   !(perfdata_attr(reader, event->attr_index)->sample_type &
                                     SAMPLE_BRANCH_STACK));
    for (size_t i = 0; is_found && i < stack.count; i++) {
        uint64_t word;
        memcpy(&word, stack.words + 8 * i, sizeof(word));
        assert_int_equal(stack.count, event->callchain_count);
        assert_true(word == event->callchain[i] || __builtin_bswap64(word) == event->callchain[i]);
    }
    if (is_found)
        assert_true(stack.pid == event->pid || __builtin_bswap32(stack.pid) == event->pid);
}

/* All events of a reader as text; the caller frees it. */
static inline char *print_events(struct perfdata_reader *reader)
{
    struct buffer out = {0};
    struct perfdata_event event;
    int found;
    while ((found = perfdata_next(reader, &event)) == 1) {
        check_peek(reader, &event);
        print_event(&out, &event);
    }
    assert_int_equal(found, 0);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

static inline char *print_file(int fd)
{
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    perfdata_reader_close(reader);
    return text;
}

/* SPDX-License-Identifier: MIT */
/* Records of tasks and mappings: COMM, FORK, EXIT, READ, MMAP2. Samples: writer_samples.c. */
#include "perfdata/writer_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
    NAME_BYTES_MAX = 15,   /* the kernel's TASK_COMM_LEN, and perf's */
    PATH_BYTES_MAX = 4095, /* perf copies paths into PATH_MAX bytes */
    BUILD_IDS_MAX = 8192,  /* entries of the BUILD_ID table, in memory until the end */
};

/* Trailer of all records except SAMPLE and ROUND; readers take the time from here. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t id; /* of the event; 0: the first one */
};

/* At least a terminator; records are multiples of 8 bytes. */
static void put_padded_text(struct buffer *out, const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    buffer_append(out, text, length);
    buffer_zeros(out, 8 - length % 8);
}

static int end_with_trailer(struct perfdata_writer *writer, size_t start, struct trailer trailer)
{
    buffer_u32(&writer->pending, trailer.pid);
    buffer_u32(&writer->pending, trailer.tid);
    buffer_u64(&writer->pending, writer_date(writer, trailer.time_ns));
    if (writer->has_ids)
        buffer_u64(&writer->pending, trailer.id ? trailer.id : writer->main_id);
    return writer_end_record(writer, start);
}

void perfdata_observe_tasks(struct perfdata_writer *writer,
                            const struct perfdata_task_observer *observer)
{
    writer->observer = *observer;
}

static void note_start(struct perfdata_writer *writer, const struct perfdata_task *task,
                       bool is_fork)
{
    const struct perfdata_task_observer *observer = &writer->observer;
    if (observer->started)
        observer->started(observer->context, task->tid, is_fork,
                          writer_date(writer, task->time_ns));
}

int perfdata_write_comm(struct perfdata_writer *writer, const struct perfdata_task *task,
                        const char *name, bool is_exec)
{
    int err = writer_check(writer);
    if (err)
        return err;
    if (is_exec)
        note_start(writer, task, false);
    size_t start = writer_begin_record(writer, RECORD_COMM, is_exec ? MISC_COMM_EXEC : 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->tid);
    put_padded_text(&writer->pending, name, NAME_BYTES_MAX);
    return end_with_trailer(writer, start,
                            (struct trailer){task->pid, task->tid, task->time_ns, 0});
}

static int write_birth_or_death(struct perfdata_writer *writer, enum record_type type,
                                const struct perfdata_task *task)
{
    int err = writer_check(writer);
    if (err)
        return err;
    size_t start = writer_begin_record(writer, type, 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->parent_pid);
    buffer_u32(&writer->pending, task->tid);
    buffer_u32(&writer->pending, task->parent_tid);
    buffer_u64(&writer->pending, writer_date(writer, task->time_ns));
    return end_with_trailer(writer, start,
                            (struct trailer){task->pid, task->tid, task->time_ns, 0});
}

int perfdata_write_fork(struct perfdata_writer *writer, const struct perfdata_task *task)
{
    note_start(writer, task, true);
    return write_birth_or_death(writer, RECORD_FORK, task);
}

int perfdata_write_exit(struct perfdata_writer *writer, const struct perfdata_task *task)
{
    const struct perfdata_task_observer *observer = &writer->observer;
    if (observer->ended)
        observer->ended(observer->context, task->tid, writer_date(writer, task->time_ns));
    return write_birth_or_death(writer, RECORD_EXIT, task);
}

int perfdata_write_value(struct perfdata_writer *writer, const struct perfdata_task *task,
                         uint32_t event, uint64_t value)
{
    int err = writer_check(writer);
    if (err)
        return err;
    if (event >= PERFDATA_EVENTS_MAX || !writer->config.events[event].name)
        return -EINVAL;
    size_t start = writer_begin_record(writer, RECORD_READ, 0);
    buffer_u32(&writer->pending, task->pid);
    buffer_u32(&writer->pending, task->tid);
    buffer_u64(&writer->pending, value);
    return end_with_trailer(
        writer, start,
        (struct trailer){task->pid, task->tid, task->time_ns, writer_event_id(event)});
}

static void put_build_id(struct buffer *out, const struct perfdata_mapping *mapping)
{
    buffer_append(out, mapping->build_id, mapping->build_id_bytes);
    buffer_zeros(out, BUILD_ID_BYTES - mapping->build_id_bytes);
}

static unsigned cpu_mode(const struct perfdata_mapping *mapping)
{
    return mapping->is_kernel ? MISC_KERNEL : MISC_USER;
}

/* The name of the kernel's image ends with the name of a symbol in MMAP2 only. */
static size_t build_id_path_bytes(const struct perfdata_mapping *mapping)
{
    return mapping->is_kernel ? strcspn(mapping->path, "]") + 1
                              : strnlen(mapping->path, PATH_BYTES_MAX);
}

/* An entry of the BUILD_ID feature, for readers without support for build-ids in MMAP2; lookup
 * by path. */
static int remember_build_id(struct perfdata_writer *writer, const struct perfdata_mapping *mapping)
{
    if (intern_count(writer->build_ids) >= BUILD_IDS_MAX)
        return 0;
    struct buffer entry = {0};
    size_t length = build_id_path_bytes(mapping), path_bytes = length / 8 * 8 + 8;
    buffer_u32(&entry, 0);
    buffer_u16(&entry, (uint16_t)(cpu_mode(mapping) | MISC_BUILD_ID_SIZE));
    buffer_u16(&entry, (uint16_t)(RECORD_HEADER_BYTES + 4 + BUILD_ID_BYTES + 4 + path_bytes));
    buffer_u32(&entry, UINT32_MAX); /* of any process */
    put_build_id(&entry, mapping);
    buffer_u32(&entry, (uint32_t)mapping->build_id_bytes);
    put_padded_text(&entry, mapping->path, length);
    bool added =
        !entry.failed && intern_add(writer->build_ids, entry.bytes, entry.size) != INTERN_NONE;
    buffer_free(&entry);
    return added ? 0 : -ENOMEM;
}

/* With MISC_MMAP_BUILD_ID, a build-id takes the place of device and inode: size, padding, 20
 * bytes. */
static void put_file_identity(struct buffer *out, const struct perfdata_mapping *mapping)
{
    if (mapping->build_id_bytes == 0) {
        buffer_zeros(out, 24); /* device, inode, inode generation */
        return;
    }
    buffer_u32(out, (uint32_t)mapping->build_id_bytes);
    put_build_id(out, mapping);
}

/* MMAP has no build-id and no protection, is 32 bytes shorter than MMAP2, and stands for code. */
static bool fits_mmap(const struct perfdata_mapping *mapping)
{
    return mapping->build_id_bytes == 0 && !mapping->is_kernel &&
           mapping->protection == (PROT_READ | PROT_EXEC);
}

int perfdata_write_mapping(struct perfdata_writer *writer, const struct perfdata_mapping *mapping)
{
    int err = writer_check(writer);
    if (err)
        return err;
    bool has_build_id = mapping->build_id_bytes != 0, is_short = fits_mmap(mapping);
    if (mapping->build_id_bytes > BUILD_ID_BYTES)
        return -EINVAL;
    if (has_build_id && (writer->err = remember_build_id(writer, mapping)) != 0)
        return writer->err;
    struct buffer *out = &writer->pending;
    size_t start = writer_begin_record(writer, is_short ? RECORD_MMAP : RECORD_MMAP2,
                                       cpu_mode(mapping) | (has_build_id ? MISC_MMAP_BUILD_ID : 0));
    buffer_u32(out, mapping->pid);
    buffer_u32(out, mapping->tid);
    buffer_u64(out, mapping->start_avma);
    buffer_u64(out, mapping->bytes);
    buffer_u64(out, mapping->file_offset);
    if (!is_short) {
        put_file_identity(out, mapping);
        buffer_u32(out, mapping->protection);
        buffer_u32(out, 2); /* flags: MAP_PRIVATE, as program files are mapped */
    }
    put_padded_text(out, mapping->path, PATH_BYTES_MAX);
    return end_with_trailer(writer, start,
                            (struct trailer){mapping->pid, mapping->tid, mapping->time_ns, 0});
}

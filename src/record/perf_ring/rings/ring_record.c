/* SPDX-License-Identifier: MIT */
/*
 * Layout of the records, as perf_event_open(2) describes:
 *
 *     SAMPLE   header │ ip │ pid, tid │ time │ id │ period │ n │ frames[n] │ abi │ registers
 *                     │ reserved size │ stack │ copied size
 *     others   header │ body …, text │ pid, tid │ time │ id
 */
#include "record/perf_ring/rings/ring_record.h"

#include "base/containers/cursor.h"
#include "perfdata/writer.h"

#include <sys/sysmacros.h>

/* sample_id_all: every record except SAMPLE ends with pid, tid, time and id, struct sample_id of
 * perf_event_open(2). */
#define TRAILER_BYTES 24

static void read_task(struct cursor *c, struct ring_record *record)
{
    record->pid = cursor_u32(c);
    record->tid = cursor_u32(c);
}

/* Before the body: the text there ends at the trailer. */
static void read_trailer(struct cursor *c, struct ring_record *record)
{
    if (c->size < TRAILER_BYTES) {
        cursor_fail(c);
        return;
    }
    struct cursor trailer = cursor_of(c->bytes + c->size - TRAILER_BYTES, TRAILER_BYTES);
    read_task(&trailer, record);
    record->time_ns = cursor_u64(&trailer);
    record->id = cursor_u64(&trailer);
    c->size -= TRAILER_BYTES;
}

/* A part of the callchain behind its marker. */
static void take_part(struct ring_record *record, const uint64_t *words, size_t count)
{
    if (words[0] == PERFDATA_CONTEXT_KERNEL && count <= PERFDATA_KERNEL_FRAMES_MAX) {
        record->kernel_frames = words + 1;
        record->kernel_count = count - 1;
    } else if (words[0] == PERFDATA_CONTEXT_USER) {
        record->user_frames = words + 1;
        record->user_count = count - 1;
    }
}

/* PERF_CONTEXT_* marks separate kernel and user part. The cast needs no copy: records, and all
 * fields before, are multiples of 8 bytes. */
static void read_callchain(struct cursor *c, struct ring_record *record)
{
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / 8) {
        cursor_fail(c);
        return;
    }
    const uint64_t *words = (const uint64_t *)(const void *)cursor_bytes(c, 8 * count);
    size_t start = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i < count && words[i] < (uint64_t)PERF_CONTEXT_MAX)
            continue;
        take_part(record, words + start, i - start);
        start = i;
    }
}

static void read_registers(struct cursor *c, struct ring_record *record)
{
    record->abi = cursor_u64(c);
    if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    size_t count = (size_t)__builtin_popcountll(RING_REGISTERS);
    record->registers = (const uint64_t *)(const void *)cursor_bytes(c, 8 * count);
}

/* The kernel reserves the requested size, copies as far as memory is mapped, and appends the number
 * of copied bytes. */
static void read_stack(struct cursor *c, struct ring_record *record)
{
    uint64_t reserved_bytes = cursor_u64(c);
    if (reserved_bytes == 0)
        return;
    record->stack = cursor_bytes(c, reserved_bytes);
    uint64_t copied_bytes = cursor_u64(c);
    if (copied_bytes > reserved_bytes)
        cursor_fail(c);
    record->stack_bytes = (size_t)copied_bytes;
    record->is_stack_full = copied_bytes == reserved_bytes;
}

/* The order of PERF_RECORD_SAMPLE (perf_event_open(2)) for the sample_type of event_attr.c: IP,
 * TID, TIME, ID, PERIOD, CALLCHAIN, REGS_USER, STACK_USER. */
static void read_sample(struct cursor *c, struct ring_record *record)
{
    record->pc = cursor_u64(c);
    read_task(c, record);
    record->time_ns = cursor_u64(c);
    record->id = cursor_u64(c);
    record->period = cursor_u64(c);
    read_callchain(c, record);
    read_registers(c, record);
    read_stack(c, record);
}

static void read_mapping(struct cursor *c, struct ring_record *record)
{
    read_task(c, record);
    record->start_avma = cursor_u64(c);
    record->bytes = cursor_u64(c);
    record->file_offset = cursor_u64(c);
    uint32_t device_major = cursor_u32(c);
    record->device = makedev(device_major, cursor_u32(c));
    record->inode = cursor_u64(c);
    cursor_skip(c, 8); /* inode generation */
    record->protection = cursor_u32(c);
    cursor_skip(c, 4); /* flags */
    record->text = cursor_string(c);
}

static void read_fork_or_exit(struct cursor *c, struct ring_record *record)
{
    record->pid = cursor_u32(c);
    record->parent_pid = cursor_u32(c);
    record->tid = cursor_u32(c);
    record->parent_tid = cursor_u32(c);
    record->time_ns = cursor_u64(c);
}

static void read_body(struct cursor *c, struct ring_record *record)
{
    switch (record->type) {
    case PERF_RECORD_MMAP2:
        read_mapping(c, record);
        break;
    case PERF_RECORD_COMM:
        read_task(c, record);
        record->text = cursor_string(c);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        read_fork_or_exit(c, record);
        break;
    case PERF_RECORD_LOST:
        cursor_skip(c, 8); /* id of the event */
        record->lost = cursor_u64(c);
        break;
    default:
        break;
    }
}

bool ring_record_decode(struct ring_record *record, const uint8_t *bytes, size_t size)
{
    *record = (struct ring_record){0};
    struct cursor c = cursor_of(bytes, size);
    record->type = cursor_u32(&c);
    record->misc = cursor_u16(&c);
    cursor_skip(&c, 2); /* size */
    if (record->type == PERF_RECORD_SAMPLE) {
        read_sample(&c, record);
    } else {
        read_trailer(&c, record);
        read_body(&c, record);
    }
    return !c.failed;
}

/* Rings are sorted by time each; the oldest record of all is at the tail of one of them. */
struct kernel_ring *ring_record_oldest(struct kernel_ring *rings, size_t count, uint64_t until_ns,
                                       struct ring_record *first, size_t *first_bytes)
{
    struct kernel_ring *found = NULL;
    for (size_t i = 0; i < count; i++) {
        struct ring_record record;
        size_t bytes;
        const uint8_t *next = kernel_ring_next(&rings[i], &bytes);
        if (!next)
            continue;
        if (!ring_record_decode(&record, next, bytes))
            record.time_ns = 0; /* too short: dropped at once */
        if (record.time_ns > until_ns || (found && record.time_ns >= first->time_ns))
            continue;
        found = &rings[i];
        record.event = found->event;
        record.processor = found->processor;
        *first = record;
        *first_bytes = bytes;
    }
    return found;
}

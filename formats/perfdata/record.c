/* SPDX-License-Identifier: MIT */
#include "perfdata/record.h"

#include <string.h>
#include <sys/mman.h>

/* The trailer's fields: pid and tid, time, id, stream_id, cpu, identifier; 8 bytes each. */
static size_t trailer_bytes(uint64_t sample_type)
{
    return 8 * (unsigned)__builtin_popcountll(sample_type &
                                              (SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID |
                                               SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER));
}

/* Events may differ in their trailers; then an identifier stands last in all of them. */
static const struct event_attr *trailer_attr(struct cursor body, const struct event_table *events)
{
    const struct event_attr *attr = &events->attrs[0];
    if (events->count == 1 || !(attr->shown.sample_type & SAMPLE_IDENTIFIER) || body.size < 8)
        return attr;
    cursor_seek(&body, body.size - 8);
    size_t found = event_table_find(events, cursor_u64(&body));
    return found < events->count ? &events->attrs[found] : attr;
}

/* Takes the trailer off the body. */
static void cut_trailer(struct cursor *body, const struct event_table *events,
                        struct perfdata_event *event)
{
    const struct event_attr *attr = trailer_attr(*body, events);
    uint64_t type = attr->shown.sample_type;
    size_t bytes = trailer_bytes(type);
    if (!attr->sample_id_all || event->type >= RECORD_USER_TYPES || bytes > body->size)
        return;
    struct cursor trailer = *body;
    cursor_seek(&trailer, body->size - bytes);
    body->size -= bytes;
    if (type & SAMPLE_TID) {
        event->pid = cursor_u32(&trailer);
        event->tid = cursor_u32(&trailer);
    }
    if (type & SAMPLE_TIME)
        event->time_ns = cursor_u64(&trailer);
}

static void read_task(struct cursor *c, struct perfdata_event *event)
{
    event->pid = cursor_u32(c);
    event->tid = cursor_u32(c);
}

/* perf maps the kernel as "[kernel.kallsyms]_text", and names its build-id "[kernel.kallsyms]". */
static void find_build_id(const struct feature_set *features, struct perfdata_event *event)
{
    size_t bytes = strlen(event->path);
    const struct build_id *found = feature_build_id(features, event->path, bytes);
    const char *bracket = event->is_kernel && !found ? strrchr(event->path, ']') : NULL;
    if (bracket)
        found = feature_build_id(features, event->path, (size_t)(bracket + 1 - event->path));
    if (!found)
        return;
    memcpy(event->build_id, found->bytes, found->size);
    event->build_id_bytes = found->size;
}

static void read_inline_build_id(struct cursor *c, struct perfdata_event *event)
{
    size_t size = cursor_u8(c);
    cursor_skip(c, 3);
    const uint8_t *bytes = cursor_bytes(c, sizeof(event->build_id));
    if (!bytes || size > sizeof(event->build_id))
        return;
    memcpy(event->build_id, bytes, size);
    event->build_id_bytes = size;
}

static void read_mapping(struct cursor *c, const struct feature_set *features,
                         struct perfdata_event *event)
{
    unsigned cpumode = event->misc & MISC_CPUMODE_MASK;
    event->kind = PERFDATA_MAPPING;
    event->is_kernel = cpumode == MISC_KERNEL || cpumode == MISC_GUEST_KERNEL;
    read_task(c, event);
    event->start_avma = cursor_u64(c);
    event->bytes = cursor_u64(c);
    event->file_offset = cursor_u64(c);
    event->protection = PROT_READ | (event->misc & MISC_MMAP_DATA ? 0 : PROT_EXEC);
    if (event->type == RECORD_MMAP2) {
        if (event->misc & MISC_MMAP_BUILD_ID)
            read_inline_build_id(c, event);
        else
            cursor_skip(c, 24); /* device, inode, inode generation */
        event->protection = cursor_u32(c);
        cursor_skip(c, 4); /* flags */
    }
    event->path = cursor_string(c);
    if (event->path && event->build_id_bytes == 0)
        find_build_id(features, event);
}

static void read_birth_or_death(struct cursor *c, struct perfdata_event *event)
{
    event->kind = event->type == RECORD_FORK ? PERFDATA_FORK : PERFDATA_EXIT;
    event->pid = cursor_u32(c);
    event->parent_pid = cursor_u32(c);
    event->tid = cursor_u32(c);
    event->parent_tid = cursor_u32(c);
    event->time_ns = cursor_u64(c);
}

bool record_decode(struct cursor body, const struct event_table *events,
                   const struct feature_set *features, struct perfdata_event *event)
{
    event->kind = PERFDATA_OTHER;
    cut_trailer(&body, events, event);
    switch (event->type) {
    case RECORD_MMAP:
    case RECORD_MMAP2:
        read_mapping(&body, features, event);
        break;
    case RECORD_COMM:
        event->kind = PERFDATA_COMM;
        event->is_exec = event->misc & MISC_COMM_EXEC;
        read_task(&body, event);
        event->name = cursor_string(&body);
        break;
    case RECORD_FORK:
    case RECORD_EXIT:
        read_birth_or_death(&body, event);
        break;
    case RECORD_LOST:
        event->kind = PERFDATA_LOST;
        cursor_skip(&body, 8); /* id */
        event->lost = cursor_u64(&body);
        break;
    case RECORD_LOST_SAMPLES:
        event->kind = PERFDATA_LOST;
        event->lost = cursor_u64(&body);
        break;
    case RECORD_FINISHED_ROUND:
        event->kind = PERFDATA_ROUND;
        break;
    default:
        break;
    }
    return !body.failed;
}

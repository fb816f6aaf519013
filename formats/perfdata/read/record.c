/* SPDX-License-Identifier: MIT */
#include "perfdata/read/record.h"

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

struct trailer {
    uint64_t fields; /* as in sample_type; 0: there is none */
    struct cursor cursor;
};

/* Takes the trailer off the body. */
static struct trailer cut_trailer(struct cursor *body, uint32_t record_type,
                                  const struct event_table *events)
{
    const struct event_attr *attr = trailer_attr(*body, events);
    struct trailer trailer = {attr->shown.sample_type, *body};
    size_t bytes = trailer_bytes(trailer.fields);
    if (!attr->sample_id_all || record_type >= RECORD_USER_TYPES || bytes > body->size)
        return (struct trailer){0};
    cursor_seek(&trailer.cursor, body->size - bytes);
    body->size -= bytes;
    return trailer;
}

static void read_trailer(struct trailer *trailer, struct perfdata_event *event)
{
    struct cursor *c = &trailer->cursor;
    uint64_t type = trailer->fields;
    if (type & SAMPLE_TID) {
        event->pid = cursor_u32(c);
        event->tid = cursor_u32(c);
    }
    if (type & SAMPLE_TIME)
        event->time_ns = cursor_u64(c);
    if (type & SAMPLE_ID)
        event->id = cursor_u64(c);
    if (type & SAMPLE_STREAM_ID)
        cursor_skip(c, 8);
    if (type & SAMPLE_CPU) {
        event->cpu = cursor_u32(c);
        cursor_skip(c, 4);
    }
    if (type & SAMPLE_IDENTIFIER)
        event->id = cursor_u64(c);
}

uint64_t record_time(struct cursor body, uint32_t record_type, const struct event_table *events)
{
    struct trailer trailer = cut_trailer(&body, record_type, events);
    if (record_type == RECORD_FORK || record_type == RECORD_EXIT) {
        cursor_skip(&body, 16); /* read_birth_or_death() */
        return cursor_u64(&body);
    }
    if (!(trailer.fields & SAMPLE_TIME))
        return 0;
    cursor_skip(&trailer.cursor, trailer.fields & SAMPLE_TID ? 8 : 0);
    return cursor_u64(&trailer.cursor);
}

static void read_task(struct cursor *c, struct perfdata_event *event)
{
    event->pid = cursor_u32(c);
    event->tid = cursor_u32(c);
}

/* perf maps the kernel as "[kernel.kallsyms]_text", but names its build-id "[kernel.kallsyms]". */
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

/* Size, three bytes of padding, 20 bytes of build-id, in place of device and inode. */
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

/* Before Linux 3.16 (and in RHEL 7's kernel) the path starts at the offset of protection and
 * flags. Four letters of a path exceed every protection value, and every file mode, which perf
 * inject --jit writes there. */
static bool has_protection(struct cursor c)
{
    return cursor_u32(&c) <= UINT16_MAX;
}

static void read_mapping(struct cursor *c, const struct feature_set *features,
                         struct perfdata_event *event)
{
    unsigned cpumode = event->record.misc & MISC_CPUMODE_MASK;
    event->kind = PERFDATA_MAPPING;
    event->is_kernel = cpumode == MISC_KERNEL;
    event->is_guest = cpumode == MISC_GUEST_KERNEL || cpumode == MISC_GUEST_USER;
    read_task(c, event);
    event->start_avma = cursor_u64(c);
    event->bytes = cursor_u64(c);
    event->file_offset = cursor_u64(c);
    /* MMAP records have no protection: mappings of data have a flag in misc. */
    event->protection = PROT_READ | (event->record.misc & MISC_MMAP_DATA ? 0 : PROT_EXEC);
    if (event->record.type == RECORD_MMAP2) {
        if (event->record.misc & MISC_MMAP_BUILD_ID)
            read_inline_build_id(c, event);
        else
            cursor_skip(c, 24); /* device, inode, inode generation */
        if (has_protection(*c)) {
            event->protection = cursor_u32(c);
            cursor_skip(c, 4); /* flags */
        }
    }
    event->path = cursor_string(c);
    if (event->path && event->build_id_bytes == 0)
        find_build_id(features, event);
}

/* perf sets MISC_FORK_EXEC in synthesised FORK records: the mappings of the process follow,
 * instead of copies of its parent's (tools/perf/util/synthetic-events.c). */
static void read_birth_or_death(struct cursor *c, struct perfdata_event *event)
{
    event->kind = event->record.type == RECORD_FORK ? PERFDATA_FORK : PERFDATA_EXIT;
    event->was_there = event->record.type == RECORD_FORK && event->record.misc & MISC_FORK_EXEC;
    event->pid = cursor_u32(c);
    event->parent_pid = cursor_u32(c);
    event->tid = cursor_u32(c);
    event->parent_tid = cursor_u32(c);
    event->time_ns = cursor_u64(c);
}

/* The layout of a group has the same size; inherited events are in no group. */
static void read_value(struct cursor *c, const struct event_table *events,
                       struct perfdata_event *event)
{
    /* records of a single event need no id */
    size_t found = events->count == 1 ? 0 : event_table_find(events, event->id);
    event->kind = found < events->count ? PERFDATA_READ : PERFDATA_UNKNOWN;
    event->attr_index = found;
    read_task(c, event);
    event->value = cursor_u64(c);
}

/* The other task is the next task at a switch-out, else the previous task. */
static void read_switch(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_SWITCH;
    event->is_switch_out = event->record.misc & MISC_SWITCH_OUT;
    event->is_preempted = event->record.misc & MISC_SWITCH_OUT_PREEMPTED;
    if (event->record.type == RECORD_SWITCH_CPU_WIDE) {
        event->switch_pid = cursor_u32(c);
        event->switch_tid = cursor_u32(c);
    }
}

static void read_namespaces(struct cursor *c, struct sample_words *words,
                            struct perfdata_event *event)
{
    event->kind = PERFDATA_NAMESPACES;
    read_task(c, event);
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / 16) {
        c->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        words->namespaces[i].device = cursor_u64(c);
        words->namespaces[i].inode = cursor_u64(c);
    }
    event->namespaces = words->namespaces;
    event->namespace_count = (size_t)count;
}

static void read_kernel_symbol(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_KSYMBOL;
    event->is_kernel = true;
    event->start_avma = cursor_u64(c);
    event->bytes = cursor_u32(c);
    cursor_skip(c, 2); /* kind */
    event->is_gone = cursor_u16(c) & KSYMBOL_UNREGISTERED;
    event->name = cursor_string(c);
}

static void read_bpf(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_BPF;
    event->is_gone = cursor_u16(c) == BPF_EVENT_UNLOADED;
    cursor_skip(c, 2); /* flags */
    event->bpf_id = cursor_u32(c);
}

static void read_text_poke(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_TEXT_POKE;
    event->is_kernel = true;
    event->start_avma = cursor_u64(c);
    cursor_skip(c, 2); /* how long the old code was */
    event->bytes = cursor_u16(c);
}

static void read_deferred(struct cursor *c, struct sample_words *words,
                          struct perfdata_event *event)
{
    event->kind = PERFDATA_DEFERRED;
    event->deferred_cookie = cursor_u64(c);
    sample_callchain(c, words, event);
}

/* LOST counts records of all kinds, LOST_SAMPLES samples of the event in the trailer. */
static void read_lost(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_LOST;
    if (event->record.type == RECORD_LOST)
        cursor_skip(c, 8); /* id */
    event->is_of_samples = event->record.type == RECORD_LOST_SAMPLES;
    event->lost = cursor_u64(c);
}

static void read_comm(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_COMM;
    event->is_exec = event->record.misc & MISC_COMM_EXEC;
    read_task(c, event);
    event->name = cursor_string(c);
}

static void read_cgroup(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_CGROUP;
    event->cgroup = cursor_u64(c);
    event->path = cursor_string(c);
}

/* Newer versions of perf append fields for counters of less than 64 bits; x86 needs none. */
static void read_counter(struct cursor *c, struct perfdata_event *event)
{
    event->kind = PERFDATA_COUNTER;
    event->counter_shift = cursor_u64(c);
    event->counter_multiplier = cursor_u64(c);
    event->counter_zero_ns = cursor_u64(c);
}

/* Types of the kernel, of perf's user space, and of simpleperf. */
static bool is_known(uint32_t type)
{
    return (type > 0 && type <= RECORD_KERNEL_LAST) ||
           (type >= RECORD_USER_TYPES && type <= RECORD_USER_LAST) || type > RECORD_SIMPLEPERF_MIN;
}

bool record_decode(struct cursor body, const struct event_table *events,
                   const struct feature_set *features, struct sample_words *words,
                   struct perfdata_event *event)
{
    event->kind = is_known(event->record.type) ? PERFDATA_OTHER : PERFDATA_UNKNOWN;
    struct trailer trailer = cut_trailer(&body, event->record.type, events);
    read_trailer(&trailer, event);
    switch (event->record.type) {
    case RECORD_MMAP:
    case RECORD_MMAP2:
        read_mapping(&body, features, event);
        break;
    case RECORD_COMM:
        read_comm(&body, event);
        break;
    case RECORD_FORK:
    case RECORD_EXIT:
        read_birth_or_death(&body, event);
        break;
    case RECORD_READ:
        read_value(&body, events, event);
        break;
    case RECORD_LOST:
    case RECORD_LOST_SAMPLES:
        read_lost(&body, event);
        break;
    case RECORD_SWITCH:
    case RECORD_SWITCH_CPU_WIDE:
        read_switch(&body, event);
        break;
    case RECORD_NAMESPACES:
        read_namespaces(&body, words, event);
        break;
    case RECORD_CGROUP:
        read_cgroup(&body, event);
        break;
    case RECORD_KSYMBOL:
        read_kernel_symbol(&body, event);
        break;
    case RECORD_BPF_EVENT:
        read_bpf(&body, event);
        break;
    case RECORD_TEXT_POKE:
        read_text_poke(&body, event);
        break;
    case RECORD_CALLCHAIN_DEFERRED:
        read_deferred(&body, words, event);
        break;
    case RECORD_TIME_CONV:
        read_counter(&body, event);
        break;
    case RECORD_FINISHED_ROUND:
        event->kind = PERFDATA_ROUND;
        break;
    default:
        break;
    }
    return !body.failed;
}

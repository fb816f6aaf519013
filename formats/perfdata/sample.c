/* SPDX-License-Identifier: MIT */
/*
 *     identifier  ip  pid,tid  time  addr  id  stream_id  cpu  period  read  callchain
 *     └─────────────────────── all must be there ───────────────────────────────────┘
 *     raw  branch_stack  regs_user  stack_user  weight …
 *     └── wanted if present ─────────────────┘  └─ nothing needed from here on
 */
#include "perfdata/sample.h"

/* Which event a sample belongs to is known before its layout is: an identifier stands first;
 * without it, all events of the file agree on what precedes the id. */
static size_t find_attr(struct cursor body, const struct event_table *events)
{
    uint64_t sample_type = events->attrs[0].shown.sample_type;
    if (events->count == 1 || !(sample_type & (SAMPLE_IDENTIFIER | SAMPLE_ID)))
        return 0;
    if (!(sample_type & SAMPLE_IDENTIFIER))
        for (uint64_t before = SAMPLE_IP; before <= SAMPLE_ADDR; before <<= 1)
            cursor_skip(&body, sample_type & before ? 8 : 0);
    uint64_t id = cursor_u64(&body);
    return id == 0 ? 0 : event_table_find(events, id);
}

static void skip_if(struct cursor *c, bool present)
{
    cursor_skip(c, present ? 8 : 0);
}

static uint64_t count_bits(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

static void skip_read(struct cursor *c, uint64_t format)
{
    uint64_t times = count_bits(format & (READ_TIME_ENABLED | READ_TIME_RUNNING));
    uint64_t words_each = 1 + count_bits(format & (READ_ID | READ_LOST));
    uint64_t count = 1;
    if (format & READ_GROUP) {
        count = cursor_u64(c);
        if (count > cursor_left(c) / 8)
            c->failed = true;
    }
    if (!c->failed)
        cursor_skip(c, 8 * (times + count * words_each));
}

static void read_callchain(struct cursor *c, struct sample_words *words,
                           struct perfdata_event *event)
{
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / 8) {
        c->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        words->callchain[i] = cursor_u64(c);
    event->callchain = words->callchain;
    event->callchain_count = (size_t)count;
}

static void skip_branch_stack(struct cursor *c, uint64_t branch_sample_type)
{
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / BRANCH_ENTRY_BYTES) {
        c->failed = true;
        return;
    }
    skip_if(c, branch_sample_type & BRANCH_HW_INDEX);
    cursor_skip(c, count * BRANCH_ENTRY_BYTES);
    if (branch_sample_type & BRANCH_COUNTERS)
        cursor_skip(c, count * 8);
}

/* Registers and stack that were captured to be unwound later. A tail that does not add up costs
 * them, not the sample. */
static void read_capture(struct cursor *c, const struct event_attr *attr,
                         struct sample_words *words, struct perfdata_event *event)
{
    uint64_t type = attr->shown.sample_type;
    if (type & SAMPLE_RAW)
        cursor_skip(c, cursor_u32(c));
    if (type & SAMPLE_BRANCH_STACK)
        skip_branch_stack(c, attr->branch_sample_type);
    uint64_t mask = 0;
    if (type & SAMPLE_REGS_USER && cursor_u64(c) != 0) {
        mask = attr->registers_user;
        for (size_t i = 0; i < count_bits(mask); i++)
            words->registers[i] = cursor_u64(c);
    }
    const uint8_t *stack = NULL;
    uint64_t stack_bytes = type & SAMPLE_STACK_USER ? cursor_u64(c) : 0;
    if (stack_bytes) {
        uint64_t room = stack_bytes;
        stack = cursor_bytes(c, room);
        stack_bytes = cursor_u64(c); /* of the room, what the kernel could copy */
        c->failed |= stack_bytes > room;
    }
    if (c->failed)
        return;
    event->user_registers_mask = mask;
    event->user_registers = words->registers;
    event->user_stack = stack;
    event->user_stack_bytes = (size_t)stack_bytes;
}

static void read_task_and_time(struct cursor *c, uint64_t type, struct perfdata_event *event)
{
    skip_if(c, type & SAMPLE_IDENTIFIER);
    if (type & SAMPLE_IP)
        event->ip = cursor_u64(c);
    if (type & SAMPLE_TID) {
        event->pid = cursor_u32(c);
        event->tid = cursor_u32(c);
    }
    if (type & SAMPLE_TIME)
        event->time_ns = cursor_u64(c);
    skip_if(c, type & SAMPLE_ADDR);
    skip_if(c, type & SAMPLE_ID);
    skip_if(c, type & SAMPLE_STREAM_ID);
    event->cpu = UINT32_MAX;
    if (type & SAMPLE_CPU) {
        event->cpu = cursor_u32(c);
        cursor_skip(c, 4);
    }
}

bool sample_decode(struct cursor body, const struct event_table *events, struct sample_words *words,
                   struct perfdata_event *event)
{
    event->attr_index = find_attr(body, events);
    if (event->attr_index >= events->count) {
        event->kind = PERFDATA_OTHER; /* an event the file does not describe */
        return true;
    }
    const struct event_attr *attr = &events->attrs[event->attr_index];
    uint64_t type = attr->shown.sample_type;
    event->kind = PERFDATA_SAMPLE;
    read_task_and_time(&body, type, event);
    event->period = attr->shown.is_frequency ? 1 : attr->shown.period_or_frequency;
    if (type & SAMPLE_PERIOD)
        event->period = cursor_u64(&body);
    if (type & SAMPLE_READ)
        skip_read(&body, attr->read_format);
    if (type & SAMPLE_CALLCHAIN)
        read_callchain(&body, words, event);
    if (body.failed)
        return false;
    read_capture(&body, attr, words, event);
    return true;
}

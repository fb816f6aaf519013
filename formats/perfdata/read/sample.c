/* SPDX-License-Identifier: MIT */
/*
 *     identifier  ip  pid,tid  time  addr  id  stream_id  cpu  period  read  callchain
 *     └─────────────────────── required ────────────────────────────────────────────┘
 *     raw  branch_stack  regs_user  stack_user  weight … cgroup …
 *     └── optional ──────────────────────────────────────────┘  └─ not read
 */
#include "perfdata/read/sample.h"

#include <string.h>

/* Absent in samples of rec and of perf record -g, which take the short way. */
static const uint64_t BEHIND_CHAIN = ~(uint64_t)(SAMPLE_HEAD | SAMPLE_READ | SAMPLE_CALLCHAIN);

/* The event must be found before the layout is known: either the identifier comes first, or all
 * events of the file have the same fields before the id. */
void sample_peek(const struct cursor *body, const struct event_table *events,
                 struct perfdata_record *record)
{
    uint32_t id_at = events->attrs[0].id_at;
    uint64_t id = events->count > 1 && id_at != UINT32_MAX ? cursor_u64_at(body, id_at) : 0;
    size_t index = id ? event_table_find(events, id) : 0;
    record->attr_index = index < events->count ? (uint32_t)index : UINT32_MAX;
    if (index < events->count)
        record->time_ns = cursor_u64_at(body, events->attrs[index].time_at);
}

static void skip_if(struct cursor *c, bool present)
{
    cursor_skip(c, present ? 8 : 0);
}

static uint64_t count_bits(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

/* The formats are in perf_event_open(2), "Reading results". In a group the times precede the
 * counts. */
static void read_count(struct cursor *c, uint64_t format, const struct event_table *events,
                       struct perfdata_count *count)
{
    count->value = cursor_u64(c);
    if (!(format & READ_GROUP))
        cursor_skip(c, 8 * count_bits(format & (READ_TIME_ENABLED | READ_TIME_RUNNING)));
    if (format & READ_ID) {
        count->id = cursor_u64(c);
        count->attr_index = event_table_find(events, count->id);
    }
    skip_if(c, format & READ_LOST);
}

/* One event: value, times, id, lost; a group: count, times, then value, id and lost of each
 * event. */
static void read_counts(struct cursor *c, uint64_t format, const struct event_table *events,
                        struct sample_words *words, struct perfdata_event *event)
{
    uint64_t count = 1;
    if (format & READ_GROUP) {
        count = cursor_u64(c);
        cursor_skip(c, 8 * count_bits(format & (READ_TIME_ENABLED | READ_TIME_RUNNING)));
    }
    c->failed |= count > cursor_left(c) / 8;
    for (size_t i = 0; i < count && !c->failed; i++) {
        words->counts[i] =
            (struct perfdata_count){.id = event->id, .attr_index = event->attr_index};
        read_count(c, format, events, &words->counts[i]);
    }
    if (c->failed)
        return;
    event->counts = words->counts;
    event->count_count = (size_t)count;
}

/* bytes: of the cursor. */
static void copy_words(const struct cursor *c, uint64_t *words, const uint8_t *bytes, size_t count)
{
    memcpy(words, bytes, count * sizeof(*words));
    for (size_t i = 0; c->swapped && i < count; i++)
        words[i] = __builtin_bswap64(words[i]);
}

/* Borrows the addresses from the record if aligned and in the host's byte order, else copies
 * them. */
void sample_callchain(struct cursor *c, struct sample_words *words, struct perfdata_event *event)
{
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / 8) {
        c->failed = true;
        return;
    }
    const uint8_t *bytes = cursor_bytes(c, count * 8);
    if (!bytes)
        return;
    event->callchain = (const void *)bytes;
    event->callchain_count = (size_t)count;
    if (!c->swapped && (uintptr_t)bytes % sizeof(*event->callchain) == 0)
        return;
    copy_words(c, words->callchain, bytes, (size_t)count);
    event->callchain = words->callchain;
}

static void read_raw(struct cursor *c, struct perfdata_event *event)
{
    uint32_t bytes = cursor_u32(c);
    event->raw = cursor_bytes(c, bytes);
    event->raw_bytes = event->raw ? bytes : 0;
}

/* The hardware index precedes the entries, counters follow; both are optional. */
static void read_branches(struct cursor *c, uint64_t branch_sample_type, struct sample_words *words,
                          struct perfdata_event *event)
{
    uint64_t count = cursor_u64(c);
    if (count > cursor_left(c) / BRANCH_ENTRY_BYTES) {
        c->failed = true;
        return;
    }
    skip_if(c, branch_sample_type & BRANCH_HW_INDEX);
    for (size_t i = 0; i < count; i++) {
        words->branches[i].from_avma = cursor_u64(c);
        words->branches[i].to_avma = cursor_u64(c);
        cursor_skip(c, 8); /* status */
    }
    if (branch_sample_type & BRANCH_COUNTERS)
        cursor_skip(c, count * 8);
    if (c->failed)
        return;
    event->branches = words->branches;
    event->branch_count = (size_t)count;
}

/* The ABI precedes the values. Samples of kernel threads have ABI 0, and no values. */
static void read_user_registers(struct cursor *c, uint64_t mask, struct sample_words *words,
                                struct perfdata_event *event)
{
    uint64_t abi = cursor_u64(c);
    if (abi == PERFDATA_ABI_NONE)
        return;
    size_t count = count_bits(mask);
    const uint8_t *bytes = cursor_bytes(c, count * sizeof(words->registers[0]));
    if (!bytes)
        return;
    copy_words(c, words->registers, bytes, count);
    event->user_abi = abi == PERFDATA_ABI_32 ? PERFDATA_ABI_32 : PERFDATA_ABI_64;
    event->user_registers_mask = mask;
    event->user_registers = words->registers;
}

/* Requested size, bytes, copied size. A size of 0 has no further fields (perf_event_open(2)). */
static void read_user_stack(struct cursor *c, struct perfdata_event *event)
{
    uint64_t room = cursor_u64(c);
    if (room == 0)
        return;
    const uint8_t *stack = cursor_bytes(c, room);
    uint64_t copied = cursor_u64(c); /* bytes copied by the kernel, at most `room` */
    c->failed |= copied > room;
    if (c->failed)
        return;
    event->user_stack = stack;
    event->user_stack_bytes = (size_t)copied;
    event->user_stack_wanted_bytes = (size_t)room;
}

/* Data for later unwinding or display. A malformed tail drops the tail, not the sample;
 * registers are dropped without a stack, and vice versa. */
static void read_capture(struct cursor *c, const struct event_attr *attr,
                         struct sample_words *words, struct perfdata_event *event)
{
    uint64_t type = attr->shown.sample_type;
    if (type & SAMPLE_RAW)
        read_raw(c, event);
    if (type & SAMPLE_BRANCH_STACK)
        read_branches(c, attr->shown.branch_sample_type, words, event);
    if (type & SAMPLE_REGS_USER)
        read_user_registers(c, attr->registers_user, words, event);
    if (type & SAMPLE_STACK_USER)
        read_user_stack(c, event);
    if (c->failed)
        event->user_registers_mask = 0;
}

/* Order of perf_output_sample() in the kernel's kernel/events/core.c. */
static void read_tail(struct cursor *c, const struct event_attr *attr, struct perfdata_event *event)
{
    uint64_t type = attr->shown.sample_type;
    if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
        event->weight = cursor_u64(c);
    if (type & SAMPLE_WEIGHT_STRUCT)
        event->weight &= UINT32_MAX; /* the other half: other latencies */
    skip_if(c, type & SAMPLE_DATA_SRC);
    skip_if(c, type & SAMPLE_TRANSACTION);
    if (type & SAMPLE_REGS_INTR && cursor_u64(c) != PERFDATA_ABI_NONE)
        cursor_skip(c, 8 * count_bits(attr->registers_interrupted));
    skip_if(c, type & SAMPLE_PHYS_ADDR);
    if (type & SAMPLE_CGROUP)
        event->cgroup = cursor_u64(c);
}

struct words { /* words verified to be present */
    const uint8_t *at;
    bool swapped;
};

static uint64_t next_word(struct words *words)
{
    uint64_t word;
    memcpy(&word, words->at, sizeof(word));
    words->at += sizeof(word);
    return words->swapped ? __builtin_bswap64(word) : word;
}

static uint32_t next_half(struct words *words)
{
    uint32_t half;
    memcpy(&half, words->at, sizeof(half));
    words->at += sizeof(half);
    return words->swapped ? __builtin_bswap32(half) : half;
}

/* The head has a fixed size for each event, so a single check covers all of its fields. */
static void read_head(struct words words, uint64_t type, struct perfdata_event *event)
{
    if (type & SAMPLE_IDENTIFIER)
        event->id = next_word(&words);
    if (type & SAMPLE_IP)
        event->ip = next_word(&words);
    if (type & SAMPLE_TID) {
        event->pid = next_half(&words);
        event->tid = next_half(&words);
    }
    if (type & SAMPLE_TIME)
        event->time_ns = next_word(&words);
    if (type & SAMPLE_ADDR)
        event->data_avma = next_word(&words);
    if (type & SAMPLE_ID)
        event->id = next_word(&words);
    if (type & SAMPLE_STREAM_ID)
        next_word(&words);
    if (type & SAMPLE_CPU) {
        event->cpu = next_half(&words);
        next_half(&words);
    }
    if (type & SAMPLE_PERIOD)
        event->period = next_word(&words);
}

bool sample_decode(struct cursor *body, const struct event_table *events,
                   struct sample_words *words, struct perfdata_event *event)
{
    event->attr_index = event->record.attr_index;
    if (event->attr_index >= events->count) {
        event->kind = PERFDATA_UNKNOWN;
        return true;
    }
    const struct event_attr *attr = &events->attrs[event->attr_index];
    uint64_t type = attr->shown.sample_type;
    event->kind = PERFDATA_SAMPLE;
    /* Without PERIOD: a sample at a fixed period weighs the period, a sample at a frequency 1. */
    event->period = attr->shown.is_frequency ? 1 : attr->shown.period_or_frequency;
    const uint8_t *head = cursor_bytes(body, attr->head_bytes);
    if (head)
        read_head((struct words){head, body->swapped}, type, event);
    if (type & SAMPLE_READ)
        read_counts(body, attr->read_format, events, words, event);
    if (type & SAMPLE_CALLCHAIN)
        sample_callchain(body, words, event);
    if (body->failed)
        return false;
    if ((type & BEHIND_CHAIN) == 0)
        return true;
    read_capture(body, attr, words, event);
    read_tail(body, attr, event);
    return true;
}

/* The size of what read_counts() reads; SIZE_MAX: malformed. */
static size_t counts_bytes(const struct cursor *body, size_t at, uint64_t format)
{
    uint64_t count = format & READ_GROUP ? cursor_u64_at(body, at) : 1;
    size_t times = count_bits(format & (READ_TIME_ENABLED | READ_TIME_RUNNING));
    size_t words = 1 + count_bits(format & (READ_ID | READ_LOST));
    if (count > body->size / 8)
        return SIZE_MAX;
    return 8 * ((format & READ_GROUP ? 1 : 0) + times + (size_t)count * words);
}

/* Behind the callchain. Samples of kernel threads have no registers. */
static bool has_registers(const struct cursor *body, size_t at, uint64_t type)
{
    if (type & SAMPLE_RAW)
        at += sizeof(uint32_t) + (size_t)cursor_u32_at(body, at);
    return type & SAMPLE_REGS_USER && cursor_u64_at(body, at) != PERFDATA_ABI_NONE;
}

bool sample_find_stack(const struct cursor *body, const struct event_attr *attr,
                       struct perfdata_stack *stack)
{
    uint64_t type = attr->shown.sample_type;
    size_t at = attr->head_bytes;
    if (!(type & SAMPLE_CALLCHAIN) || type & SAMPLE_BRANCH_STACK)
        return false;
    if (type & SAMPLE_READ)
        at += counts_bytes(body, at, attr->read_format);
    uint64_t count = cursor_u64_at(body, at);
    if (count == 0 || count > body->size / 8)
        return false;
    stack->pid = cursor_u32_at(body, attr->pid_at);
    stack->count = (size_t)count;
    stack->words = cursor_bytes_at(body, at + 8, 8 * count);
    return stack->words &&
           !(type & BEHIND_CHAIN && has_registers(body, at + 8 + 8 * (size_t)count, type));
}

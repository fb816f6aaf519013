/* SPDX-License-Identifier: MIT */
/*
 * The file up to its first record, and the events' rows as perf's attrs. Clock events are the
 * kernel's; other events of the recorder are dummy events with a name and a unit.
 */
#include "perfdata/writer_private.h"

#include <string.h>
#include <time.h>

enum {
    WRITER_SAMPLE_TYPE = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN,
    ENTRY_BYTES = ATTR_BYTES_WRITTEN + SECTION_BYTES,
    ID_BYTES = 8,
};

/* Software events of linux/perf_event.h. */
enum { CPU_CLOCK = 0, TASK_CLOCK = 1, CONTEXT_SWITCHES = 3, DUMMY = 9 };

static uint64_t flag(unsigned bit)
{
    return UINT64_C(1) << bit;
}

static uint64_t attr_flags(const struct perfdata_config *config, size_t row)
{
    uint64_t user = config->events[row].registers ? flag(ATTR_FLAG_EXCLUDE_CALLCHAIN_USER) : 0;
    uint64_t kernel = config->exclude_kernel ? flag(ATTR_FLAG_EXCLUDE_KERNEL) : 0;
    return kernel | user | flag(ATTR_FLAG_INHERIT) | flag(ATTR_FLAG_EXCLUDE_HV) |
           flag(ATTR_FLAG_MMAP) | flag(ATTR_FLAG_COMM) | flag(ATTR_FLAG_TASK) |
           flag(ATTR_FLAG_SAMPLE_ID_ALL) | flag(ATTR_FLAG_EXCLUDE_GUEST) | flag(ATTR_FLAG_MMAP2) |
           flag(ATTR_FLAG_COMM_EXEC) | flag(ATTR_FLAG_USE_CLOCKID) | flag(ATTR_FLAG_BUILD_ID);
}

static uint64_t software_event(const char *name)
{
    if (strncmp(name, "cpu-clock", 9) == 0)
        return CPU_CLOCK;
    return strncmp(name, "task-clock", 10) == 0 ? TASK_CLOCK : DUMMY;
}

static size_t first_row(const struct perfdata_config *config)
{
    size_t row = 0;
    while (!config->events[row].name)
        row++;
    return row;
}

/* perf script 6.1 prints no stacks of a file whose events are all dummies. */
static uint64_t event_number(const struct perfdata_config *config, size_t row)
{
    uint64_t number = software_event(config->events[row].name);
    return number == DUMMY && row == first_row(config) ? CONTEXT_SWITCHES : number;
}

static uint64_t sample_type(const struct perfdata_config *config, size_t row)
{
    uint64_t object = config->events[row].has_object ? SAMPLE_ADDR | SAMPLE_WEIGHT : 0;
    uint64_t stack = config->events[row].registers ? SAMPLE_REGS_USER | SAMPLE_STACK_USER : 0;
    return WRITER_SAMPLE_TYPE | object | stack | (writer_has_ids(config) ? SAMPLE_IDENTIFIER : 0);
}

void writer_put_attr(struct buffer *out, const struct perfdata_config *config, size_t row)
{
    const struct perfdata_event_row *event = &config->events[row];
    buffer_u32(out, ATTR_TYPE_SOFTWARE);
    buffer_u32(out, ATTR_BYTES_WRITTEN);
    buffer_u64(out, event_number(config, row));
    buffer_u64(out, event->period);
    buffer_u64(out, sample_type(config, row));
    buffer_u64(out, READ_ID);
    buffer_u64(out, attr_flags(config, row));
    buffer_zeros(out, 32); /* wakeup … branch_sample_type */
    buffer_u64(out, event->registers);
    buffer_u32(out, event->registers ? RECORD_BYTES_MAX : 0); /* bytes of a stack at most */
    buffer_u32(out, CLOCK_MONOTONIC);
    buffer_zeros(out, 16); /* sample_regs_intr … sample_max_stack */
}

static void put_update(struct buffer *out, uint64_t kind, size_t row, const char *text)
{
    size_t length = strlen(text), padded = length / 8 * 8 + 8;
    buffer_u32(out, RECORD_EVENT_UPDATE);
    buffer_u16(out, 0);
    buffer_u16(out, (uint16_t)(RECORD_HEADER_BYTES + 16 + padded));
    buffer_u64(out, kind);
    buffer_u64(out, writer_event_id(row));
    buffer_append(out, text, length);
    buffer_zeros(out, padded - length);
}

void writer_put_updates(struct buffer *out, const struct perfdata_config *config)
{
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++) {
        const struct perfdata_event_row *event = &config->events[i];
        if (!event->name || software_event(event->name) != DUMMY)
            continue;
        put_update(out, EVENT_UPDATE_UNIT, i, event->unit);
        /* Also in EVENT_DESC, which unfinished files lack. */
        put_update(out, EVENT_UPDATE_NAME, i, event->name);
    }
}

static void put_section(struct buffer *out, uint64_t offset, uint64_t size)
{
    buffer_u64(out, offset);
    buffer_u64(out, size);
}

static void put_entries(struct buffer *out, const struct perfdata_config *config, uint64_t at_ids)
{
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++) {
        if (!config->events[i].name)
            continue;
        writer_put_attr(out, config, i);
        put_section(out, at_ids, ID_BYTES);
        at_ids += ID_BYTES;
    }
}

static uint64_t count_events(const struct perfdata_config *config)
{
    uint64_t count = 0;
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++)
        count += config->events[i].name != NULL;
    return count;
}

bool writer_has_ids(const struct perfdata_config *config)
{
    return count_events(config) > 1;
}

uint64_t writer_put_header(struct buffer *out, const struct perfdata_config *config,
                           uint64_t data_bytes)
{
    uint64_t entries_bytes = count_events(config) * ENTRY_BYTES;
    uint64_t at_ids = HEADER_BYTES + entries_bytes;
    uint64_t at_data = at_ids + count_events(config) * ID_BYTES;
    buffer_text(out, "PERFILE2");
    buffer_u64(out, HEADER_BYTES);
    buffer_u64(out, ENTRY_BYTES);
    put_section(out, HEADER_BYTES, entries_bytes);
    put_section(out, at_data, data_bytes);
    put_section(out, 0, 0);
    buffer_zeros(out, HEADER_FEATURE_BITS / 8);
    put_entries(out, config, at_ids);
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++)
        if (config->events[i].name)
            buffer_u64(out, writer_event_id(i));
    return at_data;
}

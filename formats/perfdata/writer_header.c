/* SPDX-License-Identifier: MIT */
#include "perfdata/writer_private.h"

#include <string.h>
#include <time.h>

enum {
    WRITER_SAMPLE_TYPE =
        SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN,
};

static uint64_t flag(unsigned bit)
{
    return UINT64_C(1) << bit;
}

static uint64_t attr_flags(const struct perfdata_config *config)
{
    uint64_t kernel = config->exclude_kernel ? flag(ATTR_FLAG_EXCLUDE_KERNEL) : 0;
    return kernel | flag(ATTR_FLAG_INHERIT) | flag(ATTR_FLAG_EXCLUDE_HV) | flag(ATTR_FLAG_MMAP) |
           flag(ATTR_FLAG_COMM) | flag(ATTR_FLAG_TASK) | flag(ATTR_FLAG_SAMPLE_ID_ALL) |
           flag(ATTR_FLAG_EXCLUDE_GUEST) | flag(ATTR_FLAG_MMAP2) | flag(ATTR_FLAG_COMM_EXEC) |
           flag(ATTR_FLAG_USE_CLOCKID) | flag(ATTR_FLAG_BUILD_ID);
}

void writer_put_attr(struct buffer *out, const struct perfdata_config *config)
{
    enum { CPU_CLOCK = 0, TASK_CLOCK = 1 };
    bool is_task_clock = strncmp(config->event_name, "task-clock", 10) == 0;
    buffer_u32(out, ATTR_TYPE_SOFTWARE);
    buffer_u32(out, ATTR_BYTES_WRITTEN);
    buffer_u64(out, is_task_clock ? TASK_CLOCK : CPU_CLOCK);
    buffer_u64(out, config->period_ns);
    buffer_u64(out, WRITER_SAMPLE_TYPE);
    buffer_u64(out, READ_ID);
    buffer_u64(out, attr_flags(config));
    buffer_zeros(out, 44); /* wakeup … sample_stack_user */
    buffer_u32(out, CLOCK_MONOTONIC);
    buffer_zeros(out, 16); /* sample_regs_intr … sample_max_stack */
}

static void put_section(struct buffer *out, uint64_t offset, uint64_t size)
{
    buffer_u64(out, offset);
    buffer_u64(out, size);
}

void writer_put_header(struct buffer *out, const struct perfdata_config *config,
                       uint64_t data_bytes)
{
    enum { ENTRY_BYTES = ATTR_BYTES_WRITTEN + SECTION_BYTES };
    buffer_text(out, "PERFILE2");
    buffer_u64(out, HEADER_BYTES);
    buffer_u64(out, ENTRY_BYTES);
    put_section(out, WRITER_AT_ATTR, ENTRY_BYTES);
    put_section(out, WRITER_AT_DATA, data_bytes);
    put_section(out, 0, 0);
    buffer_zeros(out, HEADER_FEATURE_BITS / 8);
    writer_put_attr(out, config);
    put_section(out, WRITER_AT_IDS, 8);
    buffer_u64(out, WRITER_EVENT_ID);
}

/* SPDX-License-Identifier: MIT */
#include "record/sample/file_limit.h"

#include "base/budget.h"

#include <stdbool.h>

/* The free space is looked at so often, or after so many bytes. */
#define LOOK_INTERVAL_NS 250000000
#define LOOK_INTERVAL_BYTES (UINT64_C(16) << 20)

void file_limit_open(struct file_limit *limit, struct perfdata_writer *file, uint64_t size_max,
                     uint64_t keep_free)
{
    uint64_t most = budget_amount(BUDGET_FREE_BYTES), free_bytes;
    if (keep_free == 0 && perfdata_free_bytes(file, &free_bytes) == 0)
        keep_free = free_bytes / 4 < most ? free_bytes / 4 : most;
    *limit = (struct file_limit){.file = file, .size_max = size_max, .keep_free = keep_free};
}

/* Other programs write to the file system, too. */
static bool is_space_short(struct file_limit *limit, uint64_t now_ns)
{
    uint64_t written = perfdata_bytes_written(limit->file), free_bytes;
    if (now_ns - limit->looked_ns < LOOK_INTERVAL_NS &&
        written - limit->looked_bytes < LOOK_INTERVAL_BYTES)
        return false;
    limit->looked_ns = now_ns;
    limit->looked_bytes = written;
    return perfdata_free_bytes(limit->file, &free_bytes) == 0 && free_bytes < limit->keep_free;
}

enum record_end file_limit_check(struct file_limit *limit, uint64_t now_ns)
{
    if (limit->size_max && perfdata_bytes_written(limit->file) >= limit->size_max)
        return RECORD_END_SIZE;
    return is_space_short(limit, now_ns) ? RECORD_END_SPACE : RECORD_END_COMMAND;
}

/* SPDX-License-Identifier: MIT */
/* Ends the recording when the file reaches --max-size, or its file system has too little free
 * space. */
#pragma once

#include "perfdata/writer.h"
#include "record/summary.h"

#include <stdint.h>

struct file_limit {
    struct perfdata_writer *file;
    uint64_t size_max;  /* 0: any */
    uint64_t keep_free; /* bytes of the file system */
    uint64_t looked_ns, looked_bytes;
};

/* keep_free: 0: by default a recording may take three quarters of the free space, up to
 * BUDGET_FREE_BYTES. */
void file_limit_open(struct file_limit *limit, struct perfdata_writer *file, uint64_t size_max,
                     uint64_t keep_free);

/* RECORD_END_COMMAND: go on. */
enum record_end file_limit_check(struct file_limit *limit, uint64_t now_ns);

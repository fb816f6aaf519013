/* SPDX-License-Identifier: MIT */
/* From a sample of a kernel ring to a RECORD_COPY, as the sampler writes it. */
#pragma once

#include "base/containers/buffer.h"
#include "record/perf_ring/rings/ring_record.h"
#include "record/procfs/stack_pages.h"

#include <stdbool.h>
#include <stdint.h>

/* Replaces the content of `out`. unload_count: as in struct record_stack. Absent pages behind the
 * copy are requested. False: no user stack, or out of memory. */
bool kernel_copy_build(struct buffer *out, const struct ring_record *record, uint64_t weight_ns,
                       uint32_t unload_count, struct stack_pages *pages);

/* SPDX-License-Identifier: MIT */
/*
 * Samples in need of the map of their process: copied stacks, for the offline unwinder, and walked
 * stacks from before the first map. A sample is kept until its process has a map at least as new,
 * then until the CFI of the modules on its stack is loaded.
 *
 *     ring ─▶ pending_take() ─▶ complete at once ───────────────────────────────▶ sample_writer
 *                           └▶ kept ─ map arrives ─ CFI read ─ pending_finish() ─▶
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/process/process_table.h"
#include "record/sample/sample_writer.h"
#include "record/sample/stack_unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pending_stack;

struct pending_stacks {
    struct process_table *processes;
    struct sample_writer *samples;
    const struct round *round;
    struct compiler *compiler;
    struct stack_unwinder unwinder;
    uint64_t *frames;            /* RECORD_FRAMES_MAX, of the latest walk */
    struct pending_stack *items; /* in the order of arrival */
    size_t count, capacity;
    struct buffer bytes; /* their records */
};

/* A RECORD_STACK, RECORD_CHECK or RECORD_COPY: written now or kept. */
void pending_take(struct pending_stacks *pending, const struct raw_sample *raw);

/* Finishes samples with all their tables; `force`: all samples, with the available tables. */
void pending_finish(struct pending_stacks *pending, bool force);

/* Time of the process's oldest sample without a map, at most `limit_ns`. */
uint64_t pending_oldest_ns(const struct pending_stacks *pending, const struct process *process,
                           uint64_t limit_ns);

/* Whether a sample is pending for CFI. */
bool pending_needs_cfi(const struct pending_stacks *pending);

void pending_free(struct pending_stacks *pending);

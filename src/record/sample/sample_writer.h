/* SPDX-License-Identifier: MIT */
/*
 * From walked stacks to samples of the file: removes the sampler's own frames, inserts marks,
 * counts the sample in the summary, and adds its weight to the account of its process.
 */
#pragma once

#include "perfdata/writer.h"
#include "record/tables/maps/deferred_mappings.h"
#include "record/jit/jit_frames.h"
#include "record/process/process_table.h"
#include "record/round.h"
#include "record/sample/synthetic.h"
#include "wire/records.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Walked frames, a kernel leaf, code of a created thread, two marks. Too large for the stacks of
 * `ulimit -s 64`. */
#define SAMPLE_FRAMES_MAX (RECORD_FRAMES_MAX + 4)
struct frame_list {
    uint64_t frames[SAMPLE_FRAMES_MAX];
    size_t count;
};

struct sample_writer {
    struct perfdata_writer *file;
    struct frame_list *list; /* of the latest sample */
    struct record_summary *summary;
    const struct round *round;          /* in quiet rounds nothing is written */
    struct deferred_mappings *mappings; /* NULL: mappings are in the file before samples */
    uint32_t main_row; /* of the samples in the summary; not CPU time: it is not recorded */
    uint64_t period_ns;
    struct jit_frames jit;
};

/* The object of an event, as in a capture, and the code of a created thread; zero: none. */
struct sample_object {
    uint64_t avma, number;
    uint64_t code_avma; /* becomes the leaf of the stack */
};

/* A sample record of the ring, and its process and thread. */
struct raw_sample {
    struct process *process;
    pid_t tid;
    uint64_t time_ns;
    const uint8_t *record;         /* aligned to 8 bytes; not trusted */
    size_t bytes;                  /* without the object */
    const uint64_t *kernel_frames; /* above the stack, innermost first */
    uint32_t kernel_count;
    struct sample_object object;
};

/* A sample with a walked stack. */
struct walked_sample {
    struct process *process;
    struct process_map *map; /* at the time of the sample; NULL: unknown */
    pid_t tid;
    uint64_t time_ns;
    enum record_event event;
    uint64_t weight; /* in the event's unit */
    struct sample_object object;
    const uint64_t *frames;
    uint32_t frame_count;
    uint64_t dropped;    /* frames left out behind the leaf part */
    uint32_t before_gap; /* frames inside of a step with possibly missing callers; 0: none */
    uint32_t verified_from, verified_to; /* frames left by better means than frame pointers */
    const uint64_t *kernel_frames;       /* above the user frames, innermost first */
    uint32_t kernel_count;
    const struct perfdata_stack_copy *copy; /* written instead of the frames; NULL: none */
    uint32_t flags;
    bool is_complete;    /* the walk reached a root */
    bool is_fiber;       /* the root of a coroutine, on a stack made by the program */
    bool is_leaf;        /* the callers are left out on request */
    enum record_cut cut; /* of an incomplete stack */
};

/* Sets before_gap of a complete stack that leads through JIT code without frame pointers. */
void sample_write(struct sample_writer *writer, const struct walked_sample *sample);

/* A RECORD_STACK or RECORD_CHECK. */
void sample_write_record(struct sample_writer *writer, const struct raw_sample *raw,
                         struct process_map *map);

/* CPU time without a stack: a single synthetic frame. No sample for a weight of 0. */
void sample_write_synthetic(struct sample_writer *writer, struct process *process, pid_t tid,
                            enum synthetic kind, uint64_t weight_ns, uint64_t time_ns);

/* CPU time between the last sample of a thread and its end: [between samples], below the start
 * routine. */
void sample_write_thread_end(struct sample_writer *writer, struct process *process, pid_t tid,
                             uint64_t start_avma, uint64_t weight_ns, uint64_t time_ns);

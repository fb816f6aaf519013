/* SPDX-License-Identifier: MIT */
/*
 * Frames of JIT code on a walked stack. JIT code has no CFI, so the walk follows the frame pointer.
 * A function that sets up none has the frame pointer of an older frame, and its callers are left
 * out, on a stack that looks complete:
 *
 *     frame pointers   JIT f ─▶ JIT g ─▶ JIT h ─▶ call stub ─▶ main
 *     none             JIT f ──────────────────▶ call stub ─▶ main      g and h are missing
 *
 * The step out of a JIT frame is verified if its code sets up a frame pointer.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "record/tables/maps/process_map.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory other than that of running processes. The bytes are valid until the next read; NULL: not
 * there. */
struct jit_memory {
    const uint8_t *(*read)(void *context, uint64_t avma, size_t bytes);
    void *context;
};

struct jit_frames {                  /* zeros: nothing is known */
    const struct jit_memory *memory; /* NULL: of the processes; borrowed */
    struct two_way_cache known;
    struct two_way_cache code;  /* of jit_code.h */
    struct code_reader *reader; /* NULL: none yet, or none possible */
    bool has_no_reader;
    size_t read_bytes; /* less a share for each stack: bounded */
};

/* The frames of a stack, innermost first, and the mappings at that time. */
struct jit_stack {
    pid_t pid;
    const struct process_map *map;
    const uint64_t *frames;
    size_t count;
    size_t verified_from, verified_to; /* frames left by better means than FP */
};

/* The number of frames inside of the first step that is not verified; 0: there is none. */
size_t jit_frames_before_gap(struct jit_frames *jit, const struct jit_stack *stack);

/* The bytes at an address; NULL: not readable, or too much was read for the stacks before. */
const uint8_t *jit_frames_read(struct jit_frames *jit, pid_t pid, uint64_t avma, size_t bytes);

void jit_frames_free(struct jit_frames *jit);

/* SPDX-License-Identifier: MIT */
/* A stack found by a look, shared by the samples of a wait. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct look_stack {
    uint32_t users;
    uint32_t frame_count;
    uint32_t kernel_count; /* of the frames: those behind the first, in the kernel */
    /* Of the wait: address of a futex; holder of a mutex, awaited process, or number in struct
     * off_objects; 0: none. */
    uint64_t object_avma;
    uint64_t object_number;
    uint32_t descriptor_object; /* the number, if it is one of struct off_objects */
    uint64_t frames[];          /* innermost first: the reason, a synthetic frame; kernel; user */
};

struct look_frames {
    uint64_t reason_avma;
    const uint64_t *kernel_frames, *frames; /* innermost first */
    uint32_t kernel_count, frame_count;
    uint64_t mark_avma;   /* where callers are missing; 0: nowhere */
    uint32_t before_mark; /* frames */
};

/* With one user. NULL: out of memory. */
struct look_stack *look_stack_new(const struct look_frames *frames);
struct look_stack *look_stack_use(struct look_stack *stack);
/* NULL is fine. */
void look_stack_release(struct look_stack *stack);

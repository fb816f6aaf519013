/* SPDX-License-Identifier: MIT */
/*
 *     frames:   reason │ kernel_count kernel frames │ user frames … [truncated] … user frames
 */
#include "record/off_cpu/look_stack.h"

#include <stdlib.h>
#include <string.h>

struct look_stack *look_stack_new(const struct look_frames *frames)
{
    const size_t inner = 1 + (size_t)frames->kernel_count, user = frames->frame_count;
    struct look_stack *stack = malloc(sizeof(*stack) + 8 * (inner + user + 1));
    if (!stack)
        return NULL;
    *stack = (struct look_stack){
        .users = 1, .frame_count = (uint32_t)(inner + user), .kernel_count = frames->kernel_count};
    stack->frames[0] = frames->reason_avma;
    if (frames->kernel_count > 0) /* else the pointer may be NULL */
        memcpy(stack->frames + 1, frames->kernel_frames, 8 * (inner - 1));
    uint64_t *place = stack->frames + inner;
    memcpy(place, frames->frames, 8 * user);
    if (frames->mark_avma) {
        const uint32_t before = frames->before_mark;
        memmove(place + before + 1, place + before, 8 * (user - before));
        place[before] = frames->mark_avma;
        stack->frame_count++;
    }
    return stack;
}

struct look_stack *look_stack_use(struct look_stack *stack)
{
    stack->users++;
    return stack;
}

void look_stack_release(struct look_stack *stack)
{
    if (stack && --stack->users == 0)
        free(stack);
}

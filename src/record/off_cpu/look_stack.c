/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/look_stack.h"

#include <stdlib.h>
#include <string.h>

struct look_stack *look_stack_new(uint64_t reason_avma, const uint64_t *frames,
                                  uint32_t frame_count, uint64_t end_avma)
{
    struct look_stack *stack = malloc(sizeof(*stack) + 8 * ((size_t)frame_count + 2));
    if (!stack)
        return NULL;
    *stack = (struct look_stack){.users = 1, .frame_count = frame_count + 1 + (end_avma != 0)};
    stack->frames[0] = reason_avma;
    memcpy(stack->frames + 1, frames, 8 * (size_t)frame_count);
    if (end_avma)
        stack->frames[frame_count + 1] = end_avma;
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

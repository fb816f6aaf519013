/* SPDX-License-Identifier: MIT */
#include "sampler/sample/stack_record.h"

void stack_record_describe(uint8_t *record, uint32_t frame_count, uint32_t dropped,
                           enum walk_end end, uint32_t unload_count)
{
    struct record_stack *stack =
        (struct record_stack *)(void *)(record + sizeof(struct record_header));
    stack->frame_count = frame_count;
    stack->dropped = dropped;
    stack->end = end;
    stack->unload_count = unload_count;
}

bool stack_record_commit(struct ring *ring, uint8_t *record, uint64_t position,
                         struct record_header header, const struct record_object *object)
{
    if (object) {
        *(struct record_object *)(void *)(record + header.bytes) = *object;
        header.bytes += (uint32_t)sizeof(*object);
        header.flags |= RECORD_OBJECT;
    }
    *(struct record_header *)(void *)record = header;
    ring_commit(ring, position, header.bytes);
    return true;
}

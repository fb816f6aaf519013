/* SPDX-License-Identifier: MIT */
#include "sampler/sample/stack_record.h"

bool stack_record_commit(const struct walk *walk, struct record_header header, uint8_t *record,
                         uint64_t position)
{
    struct record_stack *stack =
        (struct record_stack *)(void *)(record + sizeof(struct record_header));
    stack->frame_count = walk->frame_count;
    stack->dropped = walk->dropped;
    stack->end = walk->end;
    stack->unload_count = walk->unload_count;
    if (walk->object) {
        *(struct record_object *)(void *)(record + header.bytes) = *walk->object;
        header.bytes += (uint32_t)sizeof(*walk->object);
        header.flags |= RECORD_OBJECT;
    }
    *(struct record_header *)(void *)record = header;
    ring_commit(walk->ring, position, header.bytes);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* A RECORD_COPY or RECORD_CHECK taken apart: what a sampler could not walk, for the offline unwinder. */
#pragma once

#include "base/buffer.h"
#include "unwind/step.h"
#include "wire/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_copy {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    const uint64_t *frames; /* in the record, as all below */
    const uint8_t *leaf;
    const uint64_t *words;
    const uint8_t *root;
};

/* False: its sizes are not those of a record of this size, or a frame is no user address. The
 * record is aligned to 8 bytes. */
bool stack_copy_parse(struct stack_copy *copied, const uint8_t *record, size_t size);

/* Whether every word of the stack was taken. */
bool stack_copy_is_whole(const struct stack_copy *copied);

struct stack_copy_view {
    struct stack_view root;
    struct stack_view view; /* of all, the root behind a hole */
};

/* Borrows from the record and from room, which is written anew. False: memory is out. */
bool stack_copy_view(const struct stack_copy *copied, struct buffer *room,
                     struct stack_copy_view *stack);

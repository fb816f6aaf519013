/* SPDX-License-Identifier: MIT */
/* Parses RECORD_COPY and RECORD_CHECK, the stacks for the offline unwinder. */
#pragma once

#include "base/containers/buffer.h"
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

/* False: sizes inconsistent with the size of the record, or a frame outside the user addresses. The
 * record is aligned to 8 bytes. */
bool stack_copy_parse(struct stack_copy *copied, const uint8_t *record, size_t size);

/* Whether every word of the stack was copied. */
bool stack_copy_is_whole(const struct stack_copy *copied);

struct stack_copy_view {
    struct stack_view root;
    struct stack_view view; /* leaf and middle, with the root behind the hole */
};

/* Borrows from the record and from room; replaces room's content. False: out of memory. */
bool stack_copy_view(const struct stack_copy *copied, struct buffer *room,
                     struct stack_copy_view *stack);

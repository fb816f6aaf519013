/* SPDX-License-Identifier: MIT */
/* A RECORD_COPY or RECORD_CHECK taken apart: what a sampler could not walk, for the offline unwinder. */
#pragma once

#include "base/buffer.h"
#include "unwind/step.h"
#include "wire/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copied {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    const uint64_t *frames; /* in the record, as all below */
    const uint8_t *leaf;
    const uint64_t *words;
    const uint8_t *root;
};

/* False: its sizes are not those of a record of this size. The record is aligned to 8 bytes. */
bool copied_parse(struct copied *copied, const uint8_t *record, size_t size);

/* Whether every word of the stack was taken. */
bool copied_is_whole(const struct copied *copied);

struct copied_stack {
    struct stack_view root;
    struct stack_view view; /* of all, the root behind a hole */
};

/* Borrows from the record and from room, which is written anew. False: memory is out. */
bool copied_view(const struct copied *copied, struct buffer *room, struct copied_stack *stack);

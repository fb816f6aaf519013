/* SPDX-License-Identifier: MIT */
/* The fixed part of a record with a stack, and its publication. */
#pragma once

#include "unwind/step.h"
#include "wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills in the part behind the header; frames are in place already or follow. Async-signal-safe. */
void stack_record_describe(uint8_t *record, uint32_t frame_count, uint32_t dropped,
                           enum walk_end end, uint32_t unload_count);
/* Publishes the record at `position`, with the object (NULL: none) behind the header.bytes bytes so
 * far; true. Async-signal-safe. */
bool stack_record_commit(struct ring *ring, uint8_t *record, uint64_t position,
                         struct record_header header, const struct record_object *object);

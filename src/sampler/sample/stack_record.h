/* SPDX-License-Identifier: MIT */
/* The fixed part of a record with a stack, and its publication. */
#pragma once

#include "sampler/sample/walk_state.h"

/* Publishes the walk's record at `position`: header, description of the stack, and the object
 * behind the header.bytes bytes so far; true. Async-signal-safe. */
bool stack_record_commit(const struct walk *walk, struct record_header header, uint8_t *record,
                         uint64_t position);

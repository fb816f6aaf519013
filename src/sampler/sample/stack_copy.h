/* SPDX-License-Identifier: MIT */
/* The stack of an unfinished walk, for the launcher. */
#pragma once

#include "sampler/sample/walk_state.h"

/* Whether the stack fits into a copy from its leaf to its root. Async-signal-safe. */
bool stack_copy_fits_from_leaf(const struct walk *walk);
/* Writes a RECORD_COPY or RECORD_CHECK: the frames so far, registers and stack. False when the
 * ring is full. Async-signal-safe. */
bool stack_copy_record(struct walk *walk, struct record_header header);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"
#include "cli/snapshot/named_snapshot.h"

/* A JSON object, "version": 1, with all threads; with_frames: and their stacks. */
void stacks_json(const struct named_snapshot *named, bool with_frames, struct buffer *out);

/* SPDX-License-Identifier: MIT */
/* The options of all commands, for docs/command-line.md. */
#pragma once

#include "base/containers/buffer.h"

void markdown_reference(struct buffer *out);

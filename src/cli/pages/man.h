/* SPDX-License-Identifier: MIT */
/* Manual pages in the macros of man(7). */
#pragma once

#include "cli/tables/command_spec.h"

#include "base/containers/buffer.h"

void man_overview(struct buffer *out);                                    /* rec(1) */
void man_command(struct buffer *out, const struct command_spec *command); /* rec-COMMAND(1) */

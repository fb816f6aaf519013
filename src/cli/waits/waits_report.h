/* SPDX-License-Identifier: MIT */
/* The outputs of `rec report --off-cpu` and `rec report --stuck`: text on standard output, JSON
 * with "version": 1. */
#pragma once

#include "base/containers/buffer.h"
#include "cli/waits/stuck.h"
#include "cli/waits/wait_groups.h"

void waits_print(const struct wait_groups *groups, const char *label, unsigned columns);
void waits_json(const struct wait_groups *groups, const char *path, struct buffer *out);

void stuck_print(const struct stuck *stuck, uint64_t after_ns, const char *label, unsigned columns);
void stuck_json(const struct stuck *stuck, const char *path, struct buffer *out);

/* Of the threads waiting at the end, a line for each of at most `most` groups, by log_info().
 * Returns the number of lines. */
int stuck_log(const struct stuck *stuck, int most);

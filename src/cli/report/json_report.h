/* SPDX-License-Identifier: MIT */
/* The frame of all JSON reports: {"version": 1, "file": …, …} and a line feed. */
#pragma once

#include "base/containers/buffer.h"

/* file: NULL: not of a capture. Members of the report follow. */
void json_report_open(struct buffer *out, const char *file);
void json_report_close(struct buffer *out);

/* SPDX-License-Identifier: MIT */
/* Parsers of times, percentages and sizes. 0, or -EINVAL: the message begins with `what`. */
#pragma once

#include "base/text/error.h"

#include <stdint.h>

/* "5", "1.5s", "200ms", "2m", "1h"; from 1 ns to a year. Without a unit: seconds. */
int units_parse_time(const char *text, const char *what, uint64_t *time_ns, struct error *error);

/* "5", "0.5", "2.5%"; from 0 to 100. */
int units_parse_percent(const char *text, const char *what, double *percent, struct error *error);

/* "64K", "1.5M", "2G", powers of 1024; at least 64 KiB. Without a unit: bytes. */
int units_parse_bytes(const char *text, const char *what, uint64_t *bytes, struct error *error);

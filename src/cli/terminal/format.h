/* SPDX-License-Identifier: MIT */
/* Numbers with units for readers: log_info("%s used", format_duration(ns).text). */
#pragma once

#include <stdint.h>

struct formatted {
    char text[36];
};

struct formatted format_count(uint64_t count); /* "23 061" */
/* "23 061 samples", "1 sample"; the thing has at most 7 letters. */
struct formatted format_number_of(uint64_t count, const char *thing);
struct formatted format_duration(uint64_t ns); /* "12.4 s", "1 ms", "2 min 05 s" */
struct formatted format_bytes(uint64_t bytes); /* "5.8 MB" */
/* "4.1 %"; rounds neither up to 100 (99.999 is "99.99 %") nor down to 0 ("<0.1 %"). */
struct formatted format_percent(uint64_t part, uint64_t whole);

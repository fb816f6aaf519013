/* SPDX-License-Identifier: MIT */
/* The list of defects while the checks of diagnostics.h fill the list. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The minimum share of the profile for a line. */
#define DIAGNOSTIC_PERCENT_MIN 1.0

enum { DIAGNOSTICS_MAX = 16 };

struct diagnostic {
    double percent; /* affected part of the profile */
    char text[512];
};

struct diagnostic_list {
    struct diagnostic *diagnostics; /* room for DIAGNOSTICS_MAX; borrowed */
    size_t count;
    const char *symfs; /* root of files from another machine; NULL: this machine */
};

/* 0 for an empty whole. */
double diagnostic_percent(uint64_t part, uint64_t whole);

/* A full list takes no more lines. */
__attribute__((format(printf, 3, 4))) void diagnostic_add(struct diagnostic_list *list,
                                                          double percent, const char *format, ...);

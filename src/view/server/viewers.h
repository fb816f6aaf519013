/* SPDX-License-Identifier: MIT */
/* URLs of a capture in viewers, freed by the caller. NULL: out of memory. */
#pragma once

#include "export/export.h"

#include <stdbool.h>

/* What is served where. */
struct addresses_of_view {
    const char *base;     /* "http://127.0.0.1:3000/TOKEN", without a slash at the end */
    const char *profiler; /* URL of the Firefox Profiler */
    bool has_speedscope;  /* below base */
    unsigned pprof_port;  /* 0: pprof does not run */
};

/* Suffix of the file of a format, compressed where the format has such a suffix: texts of a million
 * samples have gigabytes. */
const char *viewer_file_suffix(const struct exporter *exporter);

char *viewer_firefox(const struct addresses_of_view *addresses);
char *viewer_speedscope(const struct addresses_of_view *addresses);
char *viewer_pprof(const struct addresses_of_view *addresses);
char *viewer_html(const struct addresses_of_view *addresses);

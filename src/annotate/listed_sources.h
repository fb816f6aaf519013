/* SPDX-License-Identifier: MIT */
/* The text of the source files that instructions name, beside the sampled files of the function:
 * of inlined calls without a sample, and of the symbol around an inlined function. Each file is
 * read at its first use. */
#pragma once

#include "annotate/annotation.h"

enum {
    LISTED_SOURCES_MAX = 256,
    LISTED_SOURCES_BYTES = 32 << 20, /* of all files together */
};

struct listed_source {
    const char *name; /* borrowed from the code */
    struct source_lines source;
};

struct listed_sources {
    const struct annotation *annotation;
    struct listed_source *items; /* LISTED_SOURCES_MAX of them; NULL before the first one */
    size_t count, bytes;
};

/* Valid until the next call. Without text: not available, or beyond the limits. lib: of the
 * instruction. No file is fetched from a server: a listing names hundreds of headers. */
const struct source_lines *listed_sources_text(struct listed_sources *sources, const char *name,
                                               uint32_t lib);
void listed_sources_free(struct listed_sources *sources);

/* SPDX-License-Identifier: MIT */
/* What lies compressed in a file in ways that libdw cannot read: sections by zstd, a symbol table by xz. */
#pragma once

#include "base/buffer.h"
#include "symbols/image.h"
#include "symbols/image_build.h"

#include <stdbool.h>

struct packed {
    struct buffer sections[IMAGE_BUILD_SECTIONS];
    struct image image;
};

void packed_init(struct packed *packed);
void packed_free(struct packed *packed);

/* Whether some debug section is compressed by zstd. */
bool packed_is_needed(const struct image *image);

/* packed->image becomes the debug sections of a file, all of them decompressed. 0, -ENOTSUP, -ENOMEM. */
int packed_open(struct packed *packed, const struct image *from);

/* The symbol table that some distributions leave, compressed by xz, in stripped files (.gnu_debugdata). 0,
 * or -ENOENT, -ENOTSUP, -EBADMSG, … */
int packed_open_debugdata(struct image *out, const struct image *from);

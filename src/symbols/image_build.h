/* SPDX-License-Identifier: MIT */
/*
 * ELF images put together from sections: debug info that libdw cannot read where it lies (compressed by
 * zstd, packed with others in a .dwp) is handed to it as a file of its own that exists in memory only.
 */
#pragma once

#include "base/buffer.h"
#include "symbols/image.h"

#include <stddef.h>
#include <stdint.h>

enum { IMAGE_BUILD_SECTIONS = 24 };

struct image_build {
    struct buffer file;
    struct {
        const char *name; /* borrowed */
        uint64_t offset, bytes;
    } sections[IMAGE_BUILD_SECTIONS];
    size_t count;
};

/* Appends a section; one too many is left out. The bytes are copied, the name is not. */
void image_build_add(struct image_build *build, const char *name, const void *bytes, size_t size);

/* Makes the image and empties `build`. 0, -ENOMEM, or -ENOEXEC. */
int image_build_finish(struct image_build *build, struct image *out);

/* A copy of the debug sections of an image, all of them decompressed. */
int image_build_expanded(struct image *out, const struct image *from);

/* Whether some debug section is compressed by zstd. */
bool image_build_is_needed(const struct image *image);

/* The symbol table that some distributions leave, compressed by xz, in stripped files (.gnu_debugdata). 0,
 * or -ENOENT, -ENOTSUP, -EBADMSG, … */
int image_build_debugdata(struct image *out, const struct image *from);

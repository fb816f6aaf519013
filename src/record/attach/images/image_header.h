/* SPDX-License-Identifier: MIT */
/* Segments and build-id of an image from the memory of its process. */
#pragma once

#include "record/attach/images/image.h"

/* Where bytes of the image come from. Returns whether all of them were read. */
typedef bool image_read_function(void *context, uint64_t avma, void *bytes, size_t size);

/* header_avma: of the ELF header; code: an executable mapping, as for elf_load_bias(). False: no
 * valid 64-bit header. The memory belongs to another process, and is not trusted. */
bool image_header_read(struct image *image, uint64_t header_avma, uint64_t code_avma,
                       uint64_t code_offset, image_read_function *read, void *context);

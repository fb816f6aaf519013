/* SPDX-License-Identifier: MIT */
/* The file behind an image: its state, and the symbols in it. */
#pragma once

#include "record/attach/images/image_maps.h"

/* Sets state and symbols of an image of the process; where the memory has no header, bias, segments
 * and build-id, too. */
void image_file_inspect(struct image *image, const struct image_run *run, pid_t pid);

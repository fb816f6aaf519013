/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps to images: the parts of a file one behind the other. The parser takes a line. */
#pragma once

#include "record/attach/images/image.h"

struct image_part {
    uint64_t start_avma, end_avma, file_offset, device, inode;
    bool is_executable, is_deleted;
    char path[IMAGE_PATH_BYTES]; /* without " (deleted)" */
};

/* False: not a line of such a file. */
bool image_part_parse(struct image_part *part, const char *line);

/* An image that grows with each part. */
struct image_run {
    struct image_part first;
    uint64_t end_avma, last_offset;  /* of the part added last */
    uint64_t code_avma, code_offset; /* of the first executable part; 0: none yet */
};

/* Whether the part belongs to the image: the same file, not before the part added last. */
bool image_run_takes(const struct image_run *run, const struct image_part *part);
void image_run_begin(struct image_run *run, const struct image_part *part);
void image_run_add(struct image_run *run, const struct image_part *part);

/* SPDX-License-Identifier: MIT */
#include "record/attach/images/image_maps.h"

#include "record/procfs/maps/maps_line.h"

#include <stdio.h>
#include <string.h>

bool image_part_parse(struct image_part *part, const char *line)
{
    struct maps_line parsed;
    bool is_good = maps_line_parse(&parsed, line);
    *part = (struct image_part){.start_avma = parsed.start_avma,
                                .end_avma = parsed.end_avma,
                                .file_offset = parsed.file_offset,
                                .device = parsed.device,
                                .inode = parsed.inode,
                                .is_executable = parsed.is_executable,
                                .is_deleted = parsed.is_deleted};
    snprintf(part->path, sizeof(part->path), "%.*s", (int)parsed.path_bytes, parsed.path);
    return is_good;
}

/* A file mapped again is another image: from its start, or a part of its code (node maps its
 * compiled builtins once more near the code made at run time). Neighbouring segments may
 * share a page of the file. */
bool image_run_takes(const struct image_run *run, const struct image_part *part)
{
    return run->end_avma > 0 && part->inode == run->first.inode &&
           part->device == run->first.device && part->file_offset > run->first.file_offset &&
           part->file_offset >= run->last_offset && strcmp(part->path, run->first.path) == 0;
}

void image_run_begin(struct image_run *run, const struct image_part *part)
{
    *run = (struct image_run){.first = *part};
    image_run_add(run, part);
}

void image_run_add(struct image_run *run, const struct image_part *part)
{
    run->end_avma = part->end_avma;
    run->last_offset = part->file_offset;
    if (!part->is_executable || run->code_avma)
        return;
    run->code_avma = part->start_avma;
    run->code_offset = part->file_offset;
}

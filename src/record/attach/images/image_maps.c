/* SPDX-License-Identifier: MIT */
#include "record/attach/images/image_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Parses the number at *at and the character behind it; moves *at past both. */
static uint64_t take_number(const char **at, int base, char behind, bool *is_bad)
{
    char *end;
    uint64_t number = strtoull(*at, &end, base);
    *is_bad |= end == *at || *end != behind;
    *at = *is_bad ? "" : end + 1;
    return number;
}

/* start-end perms offset dev inode   path */
bool image_part_parse(struct image_part *part, const char *line)
{
    static const char deleted[] = " (deleted)";
    const char *at = line;
    bool is_bad = false;
    *part = (struct image_part){.start_avma = take_number(&at, 16, '-', &is_bad)};
    part->end_avma = take_number(&at, 16, ' ', &is_bad);
    is_bad |= strlen(at) < 5;
    part->is_executable = !is_bad && at[2] == 'x';
    at += is_bad ? 0 : 5;
    part->file_offset = take_number(&at, 16, ' ', &is_bad);
    uint64_t major = take_number(&at, 16, ':', &is_bad);
    part->device = makedev((unsigned)major, (unsigned)take_number(&at, 16, ' ', &is_bad));
    part->inode = take_number(&at, 10, ' ', &is_bad);
    if (is_bad || part->end_avma <= part->start_avma)
        return false;
    at += strspn(at, " ");
    size_t length = strcspn(at, "\n"), suffix = sizeof(deleted) - 1;
    part->is_deleted = length > suffix && strncmp(at + length - suffix, deleted, suffix) == 0;
    length -= part->is_deleted ? suffix : 0;
    snprintf(part->path, sizeof(part->path), "%.*s", (int)length, at);
    return true;
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

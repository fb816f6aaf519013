/* SPDX-License-Identifier: MIT */
#include "record/procfs/maps/maps_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { PERMISSIONS_BYTES = 5 }; /* "rwxp " */

/* Parses the number at *at and the character behind it; moves *at past both. */
static uint64_t take_number(const char **at, int base, char behind, bool *is_bad)
{
    char *end;
    uint64_t number = strtoull(*at, &end, base);
    *is_bad |= end == *at || *end != behind;
    *at = *is_bad ? "" : end + 1;
    return number;
}

static void take_permissions(const char **at, struct maps_line *parsed, bool *is_bad)
{
    *is_bad |= strnlen(*at, PERMISSIONS_BYTES) < PERMISSIONS_BYTES;
    if (*is_bad)
        return;
    parsed->is_writable = (*at)[1] == 'w';
    parsed->is_executable = (*at)[2] == 'x';
    parsed->is_shared = (*at)[3] == 's';
    *at += PERMISSIONS_BYTES;
}

static uint64_t take_device(const char **at, bool *is_bad)
{
    uint64_t major = take_number(at, 16, ':', is_bad);
    uint64_t minor = take_number(at, 16, ' ', is_bad);
    return makedev((unsigned)major, (unsigned)minor);
}

size_t maps_path_bytes(const char *path)
{
    static const char deleted[] = " (deleted)";
    const size_t length = strcspn(path, "\n"), suffix = sizeof(deleted) - 1;
    bool is_deleted = length > suffix && memcmp(path + length - suffix, deleted, suffix) == 0;
    return is_deleted ? length - suffix : length;
}

bool maps_line_parse(struct maps_line *parsed, const char *line)
{
    const char *at = line;
    bool is_bad = false;
    *parsed = (struct maps_line){.start_avma = take_number(&at, 16, '-', &is_bad)};
    parsed->end_avma = take_number(&at, 16, ' ', &is_bad);
    take_permissions(&at, parsed, &is_bad);
    parsed->file_offset = take_number(&at, 16, ' ', &is_bad);
    parsed->device = take_device(&at, &is_bad);
    parsed->inode = take_number(&at, 10, ' ', &is_bad);
    parsed->path = at + strspn(at, " ");
    parsed->path_bytes = maps_path_bytes(parsed->path);
    parsed->is_deleted = parsed->path_bytes < strcspn(parsed->path, "\n");
    return !is_bad && parsed->end_avma > parsed->start_avma;
}

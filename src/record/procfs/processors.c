/* SPDX-License-Identifier: MIT */
#include "record/procfs/processors.h"

#include "base/containers/buffer.h"
#include "base/files/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processors may be missing in the middle: "0-3,6". */
static size_t parse(const char *text, uint32_t *list, size_t room)
{
    size_t count = 0;
    for (const char *at = text; at && *at >= '0' && *at <= '9';) {
        char *end;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (; first <= last && count < room; first++)
            list[count++] = (uint32_t)first;
        at = *end == ',' ? end + 1 : NULL;
    }
    return count;
}

/* Where /sys is not mounted, as in a chroot: the lines "cpu0 ..." of /proc/stat (proc(5)). */
static size_t list_by_stat(uint32_t *list, size_t room)
{
    FILE *file = fopen("/proc/stat", "re");
    char *line = NULL;
    size_t size = 0, count = 0;
    while (file && getline(&line, &size, file) > 0 && strncmp(line, "cpu", 3) == 0)
        count += parse(line + 3, list + count, room - count);
    free(line);
    if (file)
        fclose(file);
    return count;
}

size_t processors_list(const char *text, uint32_t *list, size_t room)
{
    struct buffer online = {0};
    if (text)
        return parse(text, list, room);
    if (io_read_file("/sys/devices/system/cpu/online", &online, 4096) == 0)
        buffer_append(&online, "", 1);
    size_t count = parse(online.failed ? NULL : (const char *)online.bytes, list, room);
    buffer_free(&online);
    return count ? count : list_by_stat(list, room);
}

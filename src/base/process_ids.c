/* SPDX-License-Identifier: MIT */
#include "base/process_ids.h"

#include "base/files/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_BYTES_MAX = 1 << 16 };

size_t process_ids(pid_t pid, pid_t tid, pid_t *ids, size_t room)
{
    static const char key[] = "\nNSpid:";
    char path[64];
    struct buffer status = {0};
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)(tid ? tid : pid));
    int err = io_read_file(path, &status, STATUS_BYTES_MAX);
    buffer_u8(&status, 0);
    const char *line = err == 0 && !status.failed ? strstr((char *)status.bytes, key) : NULL;
    char *at = line ? (char *)line + sizeof(key) - 1 : NULL;
    while (at && count < room && *at == '\t')
        ids[count++] = (pid_t)strtol(at + 1, &at, 10);
    buffer_free(&status);
    return count;
}

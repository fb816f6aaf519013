/* SPDX-License-Identifier: MIT */
#include "record/procfs/sysctl.h"

#include "base/files/io.h"

#include <stdio.h>
#include <stdlib.h>

int sysctl_kernel_read(const char *name, int unknown)
{
    char path[128];
    struct buffer text = {0};
    int value = unknown;
    snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
    if (io_read_file(path, &text, 64) == 0) {
        buffer_append(&text, "", 1);
        if (!text.failed)
            value = (int)strtol((const char *)text.bytes, NULL, 10);
    }
    buffer_free(&text);
    return value;
}

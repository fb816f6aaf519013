/* SPDX-License-Identifier: MIT */
#include "perfdata/window.h"

#include "base/io.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW_BYTES = 1 << 18 }; /* stays in the caches */

int window_open(struct window *window, int fd, uint64_t file_bytes)
{
    *window = (struct window){.fd = fd, .file_bytes = file_bytes, .bytes = malloc(WINDOW_BYTES)};
    return window->bytes ? 0 : -ENOMEM;
}

void window_close(struct window *window)
{
    free(window->bytes);
    window->bytes = NULL;
}

void window_reuse(struct window *window, int fd, uint64_t file_bytes)
{
    *window = (struct window){.fd = fd, .file_bytes = file_bytes, .bytes = window->bytes};
}

/* What is left of the old content is read again: a record of 64 KiB at most, of 256. */
int window_get(struct window *window, uint64_t offset, size_t size, const uint8_t **bytes)
{
    uint64_t skip = offset - window->start;
    if (offset < window->start || skip > window->size || size > window->size - skip) {
        uint64_t left = window->file_bytes - offset;
        size_t wanted = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
        window->size = 0;
        int err = io_pread(window->fd, window->bytes, wanted, offset);
        if (err)
            return err;
        window->start = offset;
        window->size = wanted;
        skip = 0;
    }
    *bytes = window->bytes + skip;
    return 0;
}

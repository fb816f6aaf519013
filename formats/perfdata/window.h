/* SPDX-License-Identifier: MIT */
/* A bounded view of a file of any size: captures may be larger than memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct window {
    int fd;
    uint64_t file_bytes;
    uint8_t *bytes; /* owned */
    uint64_t start; /* file offset of bytes[0] */
    size_t size;
};

int window_open(struct window *window, int fd, uint64_t file_bytes);
void window_close(struct window *window);
/* Another file in place of this one. */
void window_reuse(struct window *window, int fd, uint64_t file_bytes);

/* size (at most 64 KiB) bytes at an offset of the file, valid until the next call. The range must
 * lie in the file; -ENODATA when the file was shortened meanwhile. */
int window_get(struct window *window, uint64_t offset, size_t size, const uint8_t **bytes);

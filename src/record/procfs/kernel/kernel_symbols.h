/* SPDX-License-Identifier: MIT */
/*
 * Addresses of kernel functions by their names: by kernel_lookup.h, else from /proc/kallsyms. The
 * kernel makes its 5 MB in 40 ms, so the text is read no further than to the functions in use.
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/procfs/kernel/kernel_lookup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_range {
    uint64_t start_avma, end_avma;
    char *name; /* owned */
};

/* The functions found so far: their names need no second look at the text. */
struct kernel_ranges {
    struct kernel_range *ranges; /* owned */
    size_t count, capacity;
};

struct kernel_symbols { /* zeros: closed */
    int fd;
    bool is_open;       /* there is more to read */
    struct buffer text; /* read so far */
    struct kernel_lookup lookup;
    struct kernel_ranges found;
};

/* fd: of the text, from now on owned. */
void kernel_symbols_open(struct kernel_symbols *symbols, int fd);
/* Those of the running kernel. */
void kernel_symbols_open_running(struct kernel_symbols *symbols);
void kernel_symbols_close(struct kernel_symbols *symbols);

/* 0: not there. */
uint64_t kernel_symbols_find(struct kernel_symbols *symbols,
                             const struct kernel_function *function);

/* The function at this address; NULL: not among them. */
const struct kernel_range *kernel_ranges_find(const struct kernel_ranges *ranges, uint64_t avma);
void kernel_ranges_free(struct kernel_ranges *ranges);

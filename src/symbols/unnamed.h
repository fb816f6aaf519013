/* SPDX-License-Identifier: MIT */
/*
 * Functions that nothing names are still told apart: the unwind tables (.eh_frame_hdr, the
 * search table of .eh_frame) say where each begins and ends. They are
 * called after their module and their start, "libfoo.so.1+0x1234".
 */
#pragma once

#include "base/containers/cursor.h"
#include "base/containers/intern.h"
#include "symbols/image.h"

#include <stdbool.h>
#include <stdint.h>

struct unnamed {
    const struct image *image;
    bool was_read;
    /* Of .eh_frame_hdr: {i32 start, i32 record}, sorted; both less its own address. */
    struct cursor table;
    uint64_t table_svma;
    struct cursor records; /* .eh_frame */
    uint64_t records_svma;
    struct intern *names; /* as pointers to them stay valid: start -> index in texts */
    char **texts;         /* owned */
    size_t count, capacity;
    size_t lookup_count;
};

void unnamed_free(struct unnamed *unnamed);

/* The name of the function that holds the address; NULL: no table covers it. Valid until unnamed_free(). */
const char *unnamed_find(struct unnamed *unnamed, uint64_t svma);

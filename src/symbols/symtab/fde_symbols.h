/* SPDX-License-Identifier: MIT */
/*
 * Functions without symbols, by the FDEs of .eh_frame, found through .eh_frame_hdr. The name is
 * that of the module with the start of the function: "libfoo.so.1+0x1234"; for the caller of signal
 * handlers, marked as a signal frame, "__restore_rt".
 */
#pragma once

#include "base/containers/cursor.h"
#include "base/containers/intern.h"
#include "elf/fde_table.h"
#include "symbols/files/elf_handle.h"

#include <stdbool.h>
#include <stdint.h>

struct fde_symbols {
    const struct elf_handle *handle;
    bool was_read;
    struct fde_table table;
    struct cursor records; /* .eh_frame */
    uint64_t records_svma;
    struct intern *names; /* as pointers to them stay valid: start -> index in texts */
    char **texts;         /* owned */
    size_t count, capacity;
    size_t lookup_count;
};

void fde_symbols_free(struct fde_symbols *fdes);

/* The name of the function around the address; NULL: no FDE there. Valid until
 * fde_symbols_free(). */
const char *fde_symbols_find(struct fde_symbols *fdes, uint64_t svma);

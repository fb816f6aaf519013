/* SPDX-License-Identifier: MIT */
/*
 * Debug info that dwz has moved out of the debug files of several programs, into a common file
 * (.gnu_debugaltlink). Looked up in the places of debug_path.h, then among downloaded files, by
 * build-id.
 */
#pragma once

#include "symbols/config.h"
#include "symbols/files/compressed_debug.h"
#include "symbols/files/elf_handle.h"

#include <elfutils/libdw.h>

struct supplement {
    struct elf_handle handle;
    struct compressed_debug compressed; /* its decompressed sections, if compressed */
    Dwarf *dwarf;                       /* NULL: none is needed */
    char *missing; /* owned; the link's name of a missing file; NULL: none is missing */
};

/* Opens the supplement of a file's debug info for libdw, which on its own would open anything at
 * the link's name, even a FIFO. Names in a missing file are lost. */
void supplement_open(struct supplement *supplement, Dwarf *dwarf, const char *path,
                     const struct symbols_config *config);
void supplement_close(struct supplement *supplement);

/* SPDX-License-Identifier: MIT */
/*
 * What dwz moved out of the debug files of several programs into one that they share (.gnu_debugaltlink).
 * It is looked for in the places of debug_path.h, then among what was fetched; its build-id must be the
 * one that the link states.
 */
#pragma once

#include "symbols/config.h"
#include "symbols/files/compressed_debug.h"
#include "symbols/files/elf_handle.h"

#include <elfutils/libdw.h>

struct supplement {
    struct elf_handle handle;
    struct compressed_debug compressed; /* the same made readable, if it was not */
    Dwarf *dwarf;                       /* NULL: none is needed */
    char *missing; /* owned; the link's name of a file that was not found; NULL: none */
};

/* Opens what a file's debug info refers to and makes libdw use that and nothing else: by itself it would
 * open whatever lies at the link's name, a FIFO too. A file that is missing costs the names in it. */
void supplement_open(struct supplement *supplement, Dwarf *dwarf, const char *path,
                     const struct symbols_config *config);
void supplement_close(struct supplement *supplement);

/* SPDX-License-Identifier: MIT */
/* The options for names of functions, the same for every command that reads a capture. */
#pragma once

#include "cli/options/options.h"

enum { SYMBOL_DEBUG_DIR = 0x1100, SYMBOL_SYMFS, SYMBOL_DEBUGINFOD, SYMBOL_NO_INLINE, MEMORY_LIMIT };

#define MEMORY_OPTION_SPEC                                 \
    OPTION_TAKING(MEMORY_LIMIT, 0, "memory-limit", "SIZE", \
                  "Limit of the memory (default 480M, more for a large capture).")

#define DEBUG_DIR_OPTION_SPEC                              \
    OPTION_TAKING(SYMBOL_DEBUG_DIR, 0, "debug-dir", "DIR", \
                  "Directory of separate debug files (default /usr/lib/debug).")

#define DEBUGINFOD_OPTION_SPEC                        \
    OPTION_SWITCH(SYMBOL_DEBUGINFOD, 0, "debuginfod", \
                  "Fetch missing debug info from the servers of DEBUGINFOD_URLS.")

#define NO_INLINE_OPTION_SPEC                       \
    OPTION_SWITCH(SYMBOL_NO_INLINE, 0, "no-inline", \
                  "Names from symbol tables only: neither inlined functions nor lines.")

#define SYMBOL_OPTION_SPECS                                                            \
    OPTION_HEADING("Names"), DEBUG_DIR_OPTION_SPEC,                                    \
        OPTION_TAKING(SYMBOL_SYMFS, 0, "symfs", "DIR",                                 \
                      "Root of the recorded files, for captures of another machine."), \
        DEBUGINFOD_OPTION_SPEC, NO_INLINE_OPTION_SPEC, MEMORY_OPTION_SPEC

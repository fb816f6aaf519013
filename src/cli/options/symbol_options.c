/* SPDX-License-Identifier: MIT */
#include "cli/options/symbol_options.h"

#include "cli/options/units.h"

bool symbol_option(struct convert_options *options, int id, const char *value, int *err,
                   struct error *error)
{
    *err = 0;
    switch (id) {
    case SYMBOL_DEBUG_DIR:
        options->debug_directory = value;
        return true;
    case SYMBOL_SYMFS:
        options->symfs = value;
        return true;
    case SYMBOL_DEBUGINFOD:
        options->use_debuginfod = true;
        return true;
    case SYMBOL_NO_INLINE:
        options->symbols_only = true;
        return true;
    case MEMORY_LIMIT:
        *err = units_parse_bytes(value, "--memory-limit", &options->memory_bytes, error);
        return true;
    default:
        return false;
    }
}

/* SPDX-License-Identifier: MIT */
/* Machine code of a module: opened where CFI ends. For the compiler thread alone. */
#pragma once

#include "record/tables/modules/known_module.h"
#include "unwind/rows/compile.h"

#include <stdbool.h>
#include <stdint.h>

/* NULL: no code that can be read. */
struct code_image *module_code_open(const struct known_module *module,
                                    struct open_file_cache *open_files);

/* Whether the piece of a large file, up to `end`, may have hand-written functions: code without CFI
 * other than padding between functions. */
bool module_code_is_needed(const struct known_module *module, const struct compiled_rows *rows,
                           uint64_t end);

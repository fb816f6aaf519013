/* SPDX-License-Identifier: MIT */
/* All rows of a module, and single ones by address. */
#pragma once

#include "unwind/module_internal.h"

#include <stdlib.h>

/* Free with compile_free(). */
static inline struct compiled_rows rows_of(const struct unwind_module *module)
{
    struct compiled_rows rows = {0};
    if (unwind_module_compile(module, 0, COMPILE_END, &rows) != 0)
        abort();
    return rows;
}

static inline uint32_t rule_in(const struct compiled_rows *rows, const struct unwind_module *module,
                               uint64_t svma)
{
    return unwind_find_rule(rows->rows, rows->count,
                            (uint32_t)(svma - unwind_module_base_svma(module)));
}

static inline uint32_t rule_at(const struct unwind_module *module, uint64_t svma)
{
    struct compiled_rows rows = rows_of(module);
    uint32_t rule = rule_in(&rows, module, svma);
    compile_free(&rows);
    return rule;
}

/* Malformed, and left out: those that could not be read and those whose instructions make no rows. */
static inline size_t bad_fdes(const struct unwind_module *module)
{
    struct compiled_rows rows = rows_of(module);
    size_t bad = module->index.bad_fdes + rows.bad_fdes;
    compile_free(&rows);
    return bad;
}

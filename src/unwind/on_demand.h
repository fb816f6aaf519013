/* SPDX-License-Identifier: MIT */
/*
 * Rules of single addresses, for those who need few of them: a function's CFI is compiled when the first of
 * its addresses is asked for, where compile_rows() would compile that of the whole file. The rules are the same.
 */
#pragma once

#include "unwind/compile.h"

struct on_demand {
    struct compiled_rows rows;    /* of the entries that were asked for, one after the other */
    struct compiled_rows scratch; /* of the last of them */
    struct on_demand_rows {
        uint32_t first, count; /* in rows; none: not asked for yet */
    } * of_entries;            /* by number of the entry in the index */
};

/* 0 or -ENOMEM. */
int on_demand_init(struct on_demand *demand, const struct cfi_index *index);
void on_demand_free(struct on_demand *demand);

/* The rule of an address, less the index's base; that of a gap when memory is out. */
uint32_t on_demand_rule(struct on_demand *demand, const struct cfi_index *index, uint32_t relative);

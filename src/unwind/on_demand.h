/* SPDX-License-Identifier: MIT */
/*
 * Rules of single addresses, for those who need few of them: a function's CFI is compiled when the first of
 * its addresses is asked for, where compile_rows() would compile that of the whole file. The rules are the same.
 */
#pragma once

#include "unwind/compile.h"

struct on_demand; /* opaque */

/* 0 or -ENOMEM. The index is borrowed; one by header (cfi_header.h) is built anew with the first address that is not found
 * in it, all others stay as they are. */
int on_demand_new(struct on_demand **out, struct cfi_index *index);
void on_demand_free(struct on_demand *demand);

/* The entry of an address, less the index's base, until the next address is asked for; NULL: there is none, or memory is out. */
const struct cfi_entry *on_demand_find(struct on_demand *demand, uint32_t relative);

/* The rule of an address, less the index's base; that of a gap when memory is out. */
uint32_t on_demand_rule(struct on_demand *demand, uint32_t relative);

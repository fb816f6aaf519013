/* SPDX-License-Identifier: MIT */
/*
 * Rules of single addresses, for those who need few of them: a function's CFI is compiled when the first of
 * its addresses is asked for, where compile_rows() would compile that of the whole file. The rules are the same.
 */
#pragma once

#include "unwind/compile.h"

struct on_demand; /* opaque */

/* 0 or -ENOMEM. The index is borrowed; one by header (cfi_header.h) is built anew with the first address that is not found
 * in it, unless it is of a piece; all others stay as they are. */
int on_demand_new(struct on_demand **out, struct cfi_index *index);
void on_demand_free(struct on_demand *demand);

/* Walks the rows of the function that holds an address, less the index's base. False: there is none, or memory is out. */
bool on_demand_walk(struct on_demand *demand, uint32_t relative, struct cfi_walk *walk);

/* The rule of an address, less the index's base; that of a gap when memory is out. */
uint32_t on_demand_rule(struct on_demand *demand, uint32_t relative);

/* SPDX-License-Identifier: MIT */
/*
 * Rules of single addresses, for those who need few of them: a function's CFI is compiled when the first of
 * its addresses is asked for, where compile_rows() would compile that of the whole file. The rules are the same.
 */
#pragma once

#include "unwind/rows/compile.h"

struct lazy_rules; /* opaque */

/* 0 or -ENOMEM. The index is borrowed; one by header (cfi_header.h) is built anew with the first address that is not found
 * in it, unless it is of a piece; all others stay as they are. */
int lazy_rules_new(struct lazy_rules **out, struct cfi_index *index);
void lazy_rules_free(struct lazy_rules *lazy);

/* Walks the rows of the function that holds an address, less the index's base. False: there is none, or memory is out. */
bool lazy_rules_walk(struct lazy_rules *lazy, uint32_t relative, struct cfi_walk *walk);

/* The rule of an address, less the index's base; that of a gap when memory is out. */
uint32_t lazy_rules_find(struct lazy_rules *lazy, uint32_t relative);

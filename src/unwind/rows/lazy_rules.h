/* SPDX-License-Identifier: MIT */
/*
 * Rules of single addresses: a function's CFI is compiled at the first lookup there, instead of the
 * whole file's as by compile_rows(). The rules are the same.
 */
#pragma once

#include "unwind/rows/compile.h"

struct lazy_rules; /* opaque */

/* 0 or -ENOMEM. The index is borrowed. A complete index by header (eh_frame_hdr.h) is rebuilt from
 * all records at the first address it lacks; other indexes stay unchanged. */
int lazy_rules_new(struct lazy_rules **out, struct cfi_index *index);
void lazy_rules_free(struct lazy_rules *lazy);

/* Starts a walk over the rows of the function around an address (less the base). False: no CFI, or
 * out of memory. */
bool lazy_rules_walk(struct lazy_rules *lazy, uint32_t relative, struct cfi_walk *walk);

/* The rule of an address (less the base); out of memory: the rule of a gap. */
uint32_t lazy_rules_find(struct lazy_rules *lazy, uint32_t relative);

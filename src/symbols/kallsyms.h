/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own list of its symbols:
 *
 *     ffffffff81000000 T _text
 *     ffffffff8175251c t elf_load
 *     ffffffffc0a01000 t nft_do_chain  [nf_tables]      of a module: left out, see below
 *
 * Modules lie elsewhere after each start, and the list does not say where one was in a recording.
 */
#pragma once

#include "symbols/symtab.h"

/* Adds the code of the kernel itself. *text_avma: where its symbol _text is. 0, -ENOENT when there
 * is no such list or all its addresses are 0 (kptr_restrict), or -ENOMEM. */
int kallsyms_read(struct symtab *symtab, const char *path, uint64_t *text_avma);

/* SPDX-License-Identifier: MIT */
/*
 * Which symbols of a table can be the answer for addresses that are known beforehand. Tables have 100 000 symbols and
 * a recording has 500 addresses of them: of node's 5 MB, sorted, 0.1 MB are looked at.
 *
 *     wanted                     a              b                       c
 *     symbols    ├sized┤    ├────────┤  ·sizeless   ├──┤     ├─┤              ├─
 *                dropped    kept        kept        dropped  dropped          dropped
 *     gaps       ───────────────┤──────────────┤───────────────────────┤
 *
 * Sized symbols are kept that hold a wanted address; of those without size the last before one, as long as no
 * symbol lies behind it or around it: what was dropped decides that, too, so each gap remembers it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_gap { /* from behind the wanted address before, up to its own */
    uint64_t svma;
    uint64_t last;      /* where its last symbol starts, if it has any */
    uint64_t sized_end; /* how far sized symbols reach that start in it */
    /* Of a finished one: what lies from here on has symbols that start behind the gap. */
    uint64_t limit;
    bool has_symbols;
};

struct address_filter { /* zeros: every address is wanted */
    struct address_gap *gaps;
    size_t count;
};

/* Ascending addresses, at least one. 0 or -ENOMEM. */
int address_filter_init(struct address_filter *filter, const uint64_t *svmas, size_t count);
void address_filter_free(struct address_filter *filter);

/* Whether any address of a range is. */
bool address_filter_has(const struct address_filter *filter, uint64_t svma, uint64_t end);

/* Of each symbol of the table, in any order: whether to keep it. */
bool address_filter_keeps(struct address_filter *filter, uint64_t svma, uint64_t end,
                          bool is_sized);

/* Once, after all symbols. */
void address_filter_finish(struct address_filter *filter);

/* Where a kept symbol without size ends that ends at `end` at the latest; at its start: it holds nothing. */
uint64_t address_filter_end(const struct address_filter *filter, uint64_t svma, uint64_t end);

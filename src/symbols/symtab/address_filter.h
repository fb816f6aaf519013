/* SPDX-License-Identifier: MIT */
/*
 * Selects the symbols near the needed addresses. Tables have 100 000 symbols, and a recording has
 * 500 addresses: of node's 5 MB, 0.1 MB are kept and sorted.
 *
 *     needed                     a              b                       c
 *     symbols    ├sized┤    ├────────┤  ·sizeless   ├──┤     ├─┤              ├─
 *                dropped    kept        kept        dropped  dropped          dropped
 *     gaps       ───────────────┤──────────────┤───────────────────────┤
 *
 * Kept are sized symbols that hold a needed address, and the last symbol without size before an
 * address, unless another symbol lies behind or around the symbol. Dropped symbols matter for the
 * latter, so each gap records them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_gap { /* from behind the needed address before, up to and with its own */
    uint64_t svma;
    uint64_t last;      /* start of the last symbol in the gap, if any */
    uint64_t sized_end; /* the furthest end of sized symbols that start in the gap */
    /* Once finished: no code from here on belongs to symbols of the gap. */
    uint64_t limit;
    bool has_symbols;
};

struct address_filter { /* zeros: every address is needed */
    struct address_gap *gaps;
    size_t count;
    /* The range of needed addresses in equal parts, two for each address: a search among all
     * addresses takes longer than all other work on a symbol. */
    uint32_t *parts; /* number of gaps before each part; one more at the end */
    size_t part_count;
    unsigned part_shift; /* size of a part: a power of 2 */
};

/* Ascending addresses, at least 1. 0 or -ENOMEM. */
int address_filter_init(struct address_filter *filter, const uint64_t *svmas, size_t count);
void address_filter_free(struct address_filter *filter);

/* Whether any address of a range is. */
bool address_filter_has(const struct address_filter *filter, uint64_t svma, uint64_t end);

/* Whether to keep a symbol. To be called for each symbol of the table, in any order. */
bool address_filter_keeps(struct address_filter *filter, uint64_t svma, uint64_t end,
                          bool is_sized);

/* Once, after all symbols. */
void address_filter_finish(struct address_filter *filter);

/* The end of a kept symbol without size, at most `end`; its start: the symbol is empty. */
uint64_t address_filter_end(const struct address_filter *filter, uint64_t svma, uint64_t end);

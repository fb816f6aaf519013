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

struct wanted_gap { /* from behind the wanted address before, up to its own */
    uint64_t svma;
    uint64_t last;      /* where its last symbol starts, if it has any */
    uint64_t sized_end; /* how far sized symbols reach that start in it */
    /* Of a finished one: what lies from here on has symbols that start behind the gap. */
    uint64_t limit;
    bool has_symbols;
};

struct wanted { /* zeros: every address is wanted */
    struct wanted_gap *gaps;
    size_t count;
};

/* Ascending addresses, at least one. 0 or -ENOMEM. */
int wanted_init(struct wanted *wanted, const uint64_t *svmas, size_t count);
void wanted_free(struct wanted *wanted);

/* Whether any address of a range is. */
bool wanted_has(const struct wanted *wanted, uint64_t svma, uint64_t end);

/* Of each symbol of the table, in any order: whether to keep it. */
bool wanted_keeps(struct wanted *wanted, uint64_t svma, uint64_t end, bool is_sized);

/* Once, after all symbols. */
void wanted_finish(struct wanted *wanted);

/* Where a kept symbol without size ends that ends at `end` at the latest; at its start: it holds nothing. */
uint64_t wanted_end(const struct wanted *wanted, uint64_t svma, uint64_t end);

/* SPDX-License-Identifier: MIT */
/* The function symbols of a code image. */
#pragma once

#include "base/containers/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct code_name {
    const char *text; /* NULL: none; borrowed */
    uint64_t hash;
};

static inline struct code_name code_name_of(const char *text)
{
    return (struct code_name){text, hash_bytes(text, strlen(text))};
}

struct code_symbol {
    uint64_t svma;
    uint64_t bytes; /* 0: none */
    struct code_name name;
};

struct code_symbols {
    struct code_symbol *items; /* owned; by svma after code_symbols_sort() */
    size_t count, capacity;
};

/* 0 or -ENOMEM. */
int code_symbols_add(struct code_symbols *symbols, struct code_symbol symbol);
/* Sorts; of symbols with the same start, the last one gets the largest size. 0 or -ENOMEM. */
int code_symbols_sort(struct code_symbols *symbols);
void code_symbols_free(struct code_symbols *symbols);

/* Narrows [*start_svma, *end_svma) to the first part in a function with a size. False: none. */
bool code_symbols_sized_part(const struct code_symbols *symbols, uint64_t *start_svma,
                             uint64_t *end_svma);
/* The symbol of this name; 0: none. Looks at all symbols. */
uint64_t code_symbols_find(const struct code_symbols *symbols, const struct code_name *name);
/* Whether a symbol of this name is at svma. */
bool code_symbols_have(const struct code_symbols *symbols, const struct code_name *name,
                       uint64_t svma);

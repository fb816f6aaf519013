/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_symbols.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

int code_symbols_add(struct code_symbols *symbols, struct code_symbol symbol)
{
    struct code_symbol *added = ARRAY_PUSH(symbols->items, symbols->count, symbols->capacity);
    if (added)
        *added = symbol;
    return added ? 0 : -ENOMEM;
}

/* Of symbols at one address, the last gets the largest size: code_symbols_sized_part() begins
 * there. */
int code_symbols_sort(struct code_symbols *symbols)
{
    struct code_symbol *items = symbols->items;
    int err = SORT_BY(items, symbols->count, svma);
    for (size_t i = 1; i < symbols->count && err == 0; i++)
        if (items[i].svma == items[i - 1].svma && items[i].bytes < items[i - 1].bytes)
            items[i].bytes = items[i - 1].bytes;
    return err;
}

void code_symbols_free(struct code_symbols *symbols)
{
    free(symbols->items);
}

bool code_symbols_sized_part(const struct code_symbols *symbols, uint64_t *start_svma,
                             uint64_t *end_svma)
{
    size_t i = ARRAY_COUNT_UP_TO(symbols->items, symbols->count, svma, *start_svma);
    for (i -= i > 0; i < symbols->count && symbols->items[i].svma < *end_svma; i++) {
        const struct code_symbol *symbol = &symbols->items[i];
        uint64_t start = symbol->svma > *start_svma ? symbol->svma : *start_svma;
        uint64_t behind = start - symbol->svma;
        if (behind >= symbol->bytes || start >= *end_svma)
            continue;
        uint64_t left = symbol->bytes - behind;
        *end_svma = *end_svma - start < left ? *end_svma : start + left;
        *start_svma = start;
        return true;
    }
    return false;
}

static bool has_name(const struct code_symbol *symbol, const struct code_name *name)
{
    return symbol->name.text && symbol->name.hash == name->hash &&
           strcmp(symbol->name.text, name->text) == 0;
}

/* Linear: call_target.c counts the symbols as work of the search. */
uint64_t code_symbols_find(const struct code_symbols *symbols, const struct code_name *name)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (has_name(&symbols->items[i], name))
            return symbols->items[i].svma;
    return 0;
}

bool code_symbols_have(const struct code_symbols *symbols, const struct code_name *name,
                       uint64_t svma)
{
    size_t i = ARRAY_COUNT_BELOW(symbols->items, symbols->count, svma, svma);
    for (; i < symbols->count && symbols->items[i].svma == svma; i++)
        if (has_name(&symbols->items[i], name))
            return true;
    return false;
}

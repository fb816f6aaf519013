/* SPDX-License-Identifier: MIT */
/* Lookups in nested, overlapping and equal symbols, as a search through all symbols finds them. */
#include "symbols/symtab/symtab.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SYMBOLS = 200, ADDRESSES = 64 };

static const char *const names[] = {"", "a", "b", "_a", "cc", "__start", "zzz"};

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

static void fill(struct symtab *symtab, uint32_t *state, uint32_t count)
{
    assert_int_equal(symtab_init(symtab, NULL, 0), 0);
    const uint32_t longest = 1 + draw(state, ADDRESSES);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t svma = draw(state, ADDRESSES), bytes = draw(state, longest);
        struct symbol symbol = {.svma = svma,
                                .end = svma + bytes,
                                .name = names[draw(state, sizeof(names) / sizeof(names[0]))],
                                .rank = (uint8_t)draw(state, 2)};
        symbol.end = bytes ? symbol.end : ADDRESSES;
        assert_int_equal(add_symbol(symtab, symbol, bytes), 0);
    }
    assert_int_equal(symtab_finish(symtab), 0);
}

/* Of the symbols with the address, those with the latest start, and of these the best. */
static const struct symbol *search(const struct symtab *symtab, uint64_t svma)
{
    const struct symbol *found = NULL;
    for (size_t i = 0; i < symtab->count; i++) {
        const struct symbol *symbol = &symtab->symbols[i];
        if (symbol->svma > svma || symbol->end <= svma || symbol->name[0] == '\0')
            continue;
        if (!found || symbol->svma > found->svma ||
            (symbol->svma == found->svma && compare_names(symbol, found) < 0))
            found = symbol;
    }
    return found;
}

static void lookups_find_what_a_search_through_all_symbols_finds(void **state)
{
    (void)state;
    uint32_t chaos = 1, found_count = 0;
    for (int round = 0; round < 2000; round++) {
        struct symtab symtab;
        fill(&symtab, &chaos, draw(&chaos, SYMBOLS));
        for (uint64_t svma = 0; svma < ADDRESSES + 2; svma++) {
            const struct symbol *expected = search(&symtab, svma);
            const struct symbol copy = expected ? *expected : (struct symbol){0};
            const struct symbol *found = symtab_find(&symtab, svma);
            assert_int_equal(found != NULL, expected != NULL);
            if (found) {
                assert_int_equal(found->svma, copy.svma);
                assert_int_equal(compare_names(found, &copy), 0);
            }
            found_count += found != NULL;
        }
        symtab_free(&symtab);
    }
    assert_in_range(found_count, 50000, 130000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_find_what_a_search_through_all_symbols_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

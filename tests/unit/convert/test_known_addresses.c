/* SPDX-License-Identifier: MIT */
/* What is found is what was added, for the state of the maps that it was added for. */
#include "convert/known_addresses.h"

#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void what_is_found_was_added(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct known_addresses known = {0};
    assert_int_equal(known_addresses_find(&known, 1, 0), PROFILE_NONE);
    for (uint32_t n = 0; n < 3 * COUNT; n++) { /* as they are asked for again */
        uint32_t i = n % COUNT;
        known_addresses_add(&known, &(struct known_address){1 + i % 3, i * 4096ull, i});
    }
    size_t found = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t address = known_addresses_find(&known, 1 + i % 3, i * 4096ull);
        assert_true(address == i || address == PROFILE_NONE);
        found += address == i;
        assert_int_equal(known_addresses_find(&known, 4 + i % 3, i * 4096ull), PROFILE_NONE);
    }
    assert_true(found > COUNT / 2);
    known_addresses_free(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_found_was_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

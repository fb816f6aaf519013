/* SPDX-License-Identifier: MIT */
#include "convert/addresses.h"

#include "convert/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t add_lib(struct profile *profile, const char *path, enum profile_category category)
{
    uint32_t lib = profile_lib_id(profile, path, NULL, 0);
    assert_int_not_equal(lib, PROFILE_NONE);
    profile->libs[lib].category = category;
    profile->libs[lib].is_synthetic = category == PROFILE_SYNTHETIC;
    return lib;
}

static void order_is_by_lib_then_svma(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    uint32_t libs[] = {add_lib(profile, "/bin/a", PROFILE_USER),
                       add_lib(profile, "/lib/b.so", PROFILE_LIBRARY), PROFILE_NONE};
    srandom(1);
    for (int i = 0; i < 5000; i++)
        profile_address_id(profile, libs[random() % 3], (uint64_t)random() << (random() % 33));
    bool *is_seen = calloc(profile->address_count, sizeof(*is_seen));
    uint32_t *order = addresses_order(profile);
    assert_non_null(is_seen);
    assert_non_null(order);
    for (size_t i = 0; i < profile->address_count; i++) {
        assert_true(order[i] < profile->address_count);
        assert_false(is_seen[order[i]]);
        is_seen[order[i]] = true;
        const struct profile_address *address = &profile->addresses[order[i]];
        const struct profile_address *before = i ? &profile->addresses[order[i - 1]] : NULL;
        if (before)
            assert_true(before->lib < address->lib ||
                        (before->lib == address->lib && before->svma < address->svma));
    }
    free(is_seen);
    free(order);
    profile_free(profile);
}

static void a_profile_without_addresses_has_an_order(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    uint32_t *order = addresses_order(profile);
    assert_non_null(order);
    free(order);
    profile_free(profile);
}

static void kinds_of_libs_decide_what_is_stored(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    const struct {
        uint32_t lib;
        bool is_of_file, is_of_kernel, is_stored;
    } cases[] = {
        {add_lib(profile, "/bin/a", PROFILE_USER), true, false, true},
        {add_lib(profile, "/lib/b.so", PROFILE_LIBRARY), true, false, true},
        {add_lib(profile, "[vdso]", PROFILE_LIBRARY), true, false, true},
        {add_lib(profile, "[kernel]", PROFILE_KERNEL), false, true, true},
        {add_lib(profile, "[exit]", PROFILE_SYNTHETIC), false, false, false},
        {add_lib(profile, "[JIT] tid 4711", PROFILE_JIT), false, false, true},
        {add_lib(profile, "//anon", PROFILE_JIT), false, false, false},
        {PROFILE_NONE, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(addresses_are_of_file(profile, cases[i].lib), cases[i].is_of_file);
        assert_int_equal(addresses_are_of_kernel(profile, cases[i].lib), cases[i].is_of_kernel);
        assert_int_equal(addresses_are_stored(profile, cases[i].lib), cases[i].is_stored);
    }
    profile_free(profile);
}

static bool is_named_after(const char *name)
{
    struct profile *profile = profile_new();
    uint32_t lib = add_lib(profile, "/bin/a", PROFILE_USER);
    uint32_t index = profile_address_id(profile, lib, UINT64_MAX);
    struct profile_address *address = &profile->addresses[index];
    if (name)
        frames_add_bare(profile, address, name);
    bool is_named = address_is_named(profile, address);
    profile_free(profile);
    return is_named;
}

static void the_number_of_an_address_is_no_name(void **state)
{
    (void)state;
    assert_string_equal(address_number(0).text, "0x0");
    assert_string_equal(address_number(UINT64_MAX).text, "0xffffffffffffffff");
    assert_false(is_named_after(NULL));
    assert_false(is_named_after("0xffffffffffffffff"));
    assert_true(is_named_after("0xfffffffffffffffe"));
    assert_true(is_named_after("main"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_lib_then_svma),
        cmocka_unit_test(a_profile_without_addresses_has_an_order),
        cmocka_unit_test(kinds_of_libs_decide_what_is_stored),
        cmocka_unit_test(the_number_of_an_address_is_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

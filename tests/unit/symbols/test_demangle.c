/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *mangled, const char *readable)
{
    char *text = demangle(mangled);
    assert_non_null(text);
    assert_string_equal(text, readable);
    free(text);
}

static void cxx_and_both_rust_manglings_become_readable(void **state)
{
    (void)state;
    expect("_ZN4shop3runERSt6vectorIiSaIiEE", "shop::run(std::vector<int, std::allocator<int> >&)");
    expect("_ZN4shop12_GLOBAL__N_17accountC2El",
           "shop::(anonymous namespace)::account::account(long)");
    expect("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
           "3bar17h930b740aa94f1d3aE",
           "<Test + 'static as foo::Bar<Test>>::bar");
    expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    expect("_D3app4mainFiZi", "app.main(int)");
    expect("_Z3fooi.cold", "foo(int) [clone .cold]");
}

static void plain_names_are_not_mangled(void **state)
{
    (void)state;
    assert_null(demangle("main"));
    assert_null(demangle("_start"));
    assert_null(demangle("_Z"));
    assert_null(demangle(""));
}

/* f(A<int, int>, A<A<int, int>, A<int, int> >, …): each parameter is twice as long as the one
 * before. */
static void a_name_that_expands_without_end_is_refused(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1AIiiE";
    for (int i = 0; i < 34; i++) {
        char part[32];
        snprintf(part, sizeof(part), "S_IS%c_S%c_E", digits[i], digits[i]);
        strcat(name, part);
        char *text = demangle(name);
        if (i < 8)
            assert_non_null(text);
        if (i > 16)
            assert_null(text);
        free(text);
    }
}

/* Each parameter is an associative array of the parameter before. */
static void a_name_of_d_that_expands_without_end_is_refused(void **state)
{
    (void)state;
    char name[512] = "_D1fFHii";
    int place = 5;
    for (int i = 0; i < 60; i++) {
        int here = (int)strlen(name), first = here + 1 - place, second = first + 2;
        snprintf(name + here, sizeof(name) - (size_t)here, "HQ%cQ%c", 'a' + first, 'a' + second);
        place = here;
        char whole[520];
        snprintf(whole, sizeof(whole), "%sZv", name);
        char *text = demangle(whole);
        if (i < 3)
            assert_non_null(text);
        if (i > 16)
            assert_null(text);
        free(text);
    }
}

/* Of the tests of libiberty. */
static void back_references_of_d_are_followed(void **state)
{
    (void)state;
    expect("_D4testFS10structnameQnZb", "test(structname, structname)");
    expect("_D3std8typecons__T7TypedefTCQBaQz19__unittestL6513_208FNfZ7MyClassVQBonVAyanZQCh6__"
           "ctorMFNaNbNcNiNfQCuZSQDyQDx__TQDrTQDmVQDqnVQCcnZQEj",
           "std.typecons.Typedef!(std.typecons.__unittestL6513_208().MyClass, null, null).Typedef"
           ".this(std.typecons.__unittestL6513_208().MyClass)");
}

static void nesting_as_deep_as_a_name_can_be_does_not_overflow_the_stack(void **state)
{
    (void)state;
    static char name[8192];
    static const char *const openings[] = {"_Z1fP", "_Z1fIL", "_ZN1AI", "_RNvB", "_Z1fFv"};
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++)
        for (size_t length = 4000; length < 4200; length += 50) {
            size_t head = strlen(openings[i]);
            memcpy(name, openings[i], head);
            memset(name + head, openings[i][head - 1], length - head);
            name[length] = '\0';
            free(demangle(name));
            name[length - 1] = 'i';
            free(demangle(name));
        }
}

/* Names of more than a kilobyte are ordinary in template code. */
static void a_long_name_is_demangled(void **state)
{
    (void)state;
    char name[4000] = "_Z1f";
    for (int i = 0; i < 300; i++)
        strcat(name, "3abcPS_");
    char *text = demangle(name);
    assert_non_null(text);
    assert_memory_equal(text, "f(abc, ", 7);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cxx_and_both_rust_manglings_become_readable),
        cmocka_unit_test(plain_names_are_not_mangled),
        cmocka_unit_test(a_name_that_expands_without_end_is_refused),
        cmocka_unit_test(a_name_of_d_that_expands_without_end_is_refused),
        cmocka_unit_test(back_references_of_d_are_followed),
        cmocka_unit_test(nesting_as_deep_as_a_name_can_be_does_not_overflow_the_stack),
        cmocka_unit_test(a_long_name_is_demangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

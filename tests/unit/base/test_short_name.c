/* SPDX-License-Identifier: MIT */
/* Names without template arguments and parameters are still those of the same functions. */
#include "base/text/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void arguments_and_parameters_go_and_the_rest_stays(void **state)
{
    (void)state;
    static const struct {
        const char *whole, *expected;
    } names[] = {
        {"main", "main"},
        {"f(int)", "f"},
        {"int std::max<int>(int const&, int const&)", "std::max"},
        {"void std::__sort<int*, std::less<int> >(int*, int*, std::less<int>)", "std::__sort"},
        {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"},
        {"a::b<c<d> >::e() const", "a::b::e"},
        {"shop::(anonymous namespace)::hidden(int)", "shop::(anonymous namespace)::hidden"},
        {"f(int)::{lambda(int, char)#1}::operator()(int, char) const", "f::{lambda#1}::operator()"},
        {"shop::run(std::vector<int>&)::<lambda>::operator()", "shop::run::<lambda>::operator()"},
        {"std::ostream& operator<< <char>(std::ostream&, char const*)", "operator<<"},
        {"bool operator< <int>(a<int> const&, a<int> const&)", "operator<"},
        {"a::operator->() const", "a::operator->"},
        {"a::operator bool() const", "a::operator bool"},
        {"operator new(unsigned long)", "operator new"},
        {"operators::run(int)", "operators::run"},
        {"non-virtual thunk to a::b::c(int)", "a::b::c"},
        {"f(void (*)(int), g<&h>)", "f"},
        {"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
         "<alloc::vec::Vec as core::ops::Drop>::drop"},
        {"core::iter::Map<I, fn(u8) -> u8>::next", "core::iter::Map::next"},
        {"unbalanced<", "unbalanced"},
        {"(", "("},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct buffer out = {0};
        buffer_text(&out, "before ");
        short_name_append(&out, names[i].whole, "_Z");
        buffer_u8(&out, 0);
        assert_string_equal((char *)out.bytes + 7, names[i].expected);
        buffer_free(&out);
    }
}

static void names_that_are_not_mangled_stay(void **state)
{
    (void)state;
    struct buffer out = {0};
    short_name_append(&out, "JS:*f /a/b.js:1:13 <x>", "JS:*f /a/b.js:1:13 <x>");
    buffer_u8(&out, 0);
    assert_string_equal((char *)out.bytes, "JS:*f /a/b.js:1:13 <x>");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_parameters_go_and_the_rest_stays),
        cmocka_unit_test(names_that_are_not_mangled_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "compare/function_key.h"

#include "base/clock.h"

#include "runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct place {
    const char *path, *name;
    uint8_t build_id; /* 0: none */
};

static void append_key(struct buffer *out, const struct profile *profile, uint32_t func)
{
    function_key_append(out, profile, func, NULL);
}

static struct buffer key_of(const struct place *place,
                            void (*append)(struct buffer *out, const struct profile *profile,
                                           uint32_t func))
{
    struct profile *profile = profile_new();
    struct buffer key = {0};
    made_address(profile, made_lib(profile, place->path, place->build_id), 16, place->name);
    if (append == append_key && strncmp(place->name, "0x", 2) != 0)
        profile->funcs[0].file = profile_string(profile, "a.c");
    append(&key, profile, 0);
    profile_free(profile);
    return key;
}

static bool is_same(struct place left, struct place right)
{
    struct buffer a = key_of(&left, append_key), b = key_of(&right, append_key);
    bool result = a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
    buffer_free(&a);
    buffer_free(&b);
    return result;
}

static void assert_name(const char *name, const char *expected)
{
    const struct place place = {"/bin/app", name, 1};
    struct buffer text = key_of(&place, function_key_append_name);
    buffer_u8(&text, 0);
    assert_string_equal((char *)text.bytes, expected);
    buffer_free(&text);
}

static void assert_module(const char *path, const char *expected)
{
    const struct place place = {path, "f", 1};
    struct buffer text = key_of(&place, function_key_append_module);
    buffer_u8(&text, 0);
    assert_string_equal((char *)text.bytes, expected);
    buffer_free(&text);
}

static void a_librarys_version_is_not_part_of_the_module(void **state)
{
    (void)state;
    assert_module("/usr/lib/libfoo.so.1.2.3", "libfoo.so");
    assert_module("/usr/lib/libfoo.so", "libfoo.so");
    assert_module("/usr/lib/libc-2.36.so", "libc.so");
    assert_module("/usr/lib/libQt5-style-7.so.2", "libQt5-style.so");
    assert_module("/usr/lib/_json.cpython-311-x86_64-linux-gnu.so",
                  "_json.cpython-311-x86_64-linux-gnu.so");
    assert_module("/usr/bin/python3.11", "python3.11");
    assert_module("/opt/my.solver", "my.solver");
    assert_module("[kernel]", "");
}

static void a_compilers_suffixes_are_not_part_of_the_name(void **state)
{
    (void)state;
    assert_name("work", "work");
    assert_name("work.constprop.0", "work");
    assert_name("work.isra.0.part.3", "work");
    assert_name("work.cold", "work");
    assert_name("work.part.0.cold.12", "work");
    assert_name("work.lto_priv.4", "work");
    assert_name("work.constpropagate", "work.constpropagate");
    assert_name("main.work", "main.work");
    assert_name(".cold", ".cold");
    assert_name("f(int) [clone .cold]", "f(int)");
    assert_name("f(int) [clone .isra.0] [clone .part.1]", "f(int)");
    assert_name("f(int) [clone .isra.0.part.1]", "f(int)");
    assert_name("f(int) [clone .resolver]", "f(int) [clone .resolver]");
    assert_name("operator[]", "operator[]");
    assert_name("core::fmt::write::h0123456789abcdef", "core::fmt::write");
    assert_name("a::h0123", "a::h0123");
}

/* CPU time for the name with so many bytes of a suffix: the least of a few. */
static uint64_t time_of_suffixes(const char *suffix, size_t bytes)
{
    struct buffer name = {0};
    buffer_text(&name, "work");
    while (name.size < bytes)
        buffer_text(&name, suffix);
    buffer_u8(&name, 0);
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        const uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        assert_name((const char *)name.bytes, "work");
        const uint64_t took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    buffer_free(&name);
    return least_ns;
}

/* 16 times as many take 16 times as long; once 256 times. */
static void suffixes_cost_time_by_their_bytes(void **state)
{
    (void)state;
    static const char *const suffixes[] = {".isra", ".isra.0", ".cold.", " [clone .cold]"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        assert_true(time_of_suffixes(suffixes[i], 256 << 10) <
                    64 * time_of_suffixes(suffixes[i], 16 << 10));
}

static void suffixes_are_whole_components(void **state)
{
    (void)state;
    assert_name("work.isra..cold", "work");
    assert_name("work.isra.cold", "work");
    assert_name("work.5", "work.5");
    assert_name("work.5.5", "work.5.5");
    assert_name(".isra.5", ".isra.5");
}

static void functions_match_by_module_and_name_across_builds(void **state)
{
    (void)state;
    assert_true(is_same((struct place){"/a/libx.so.1", "f", 1},
                        (struct place){"/b/libx.so.2", "f.cold", 2}));
    assert_false(
        is_same((struct place){"/a/libx.so.1", "f", 1}, (struct place){"/a/liby.so.1", "f", 1}));
    assert_false(
        is_same((struct place){"/a/libx.so.1", "f", 1}, (struct place){"/a/libx.so.1", "g", 1}));
    assert_false(is_same((struct place){"/a/b", "cf", 1}, (struct place){"/a/bc", "f", 1}));
}

static void code_without_a_name_matches_in_the_same_build_only(void **state)
{
    (void)state;
    const struct place first = {"/a/libx.so.1", "libx.so.1+0x40", 1};
    assert_true(is_same(first, (struct place){"/b/libx.so.1", "libx.so.1+0x40", 1}));
    assert_false(is_same(first, (struct place){"/a/libx.so.1", "libx.so.1+0x40", 2}));
    const struct place bare = {"/a/libx.so.1", "0x40", 1};
    assert_true(is_same(bare, (struct place){"/b/libx.so.1", "0x80", 1}));
    assert_false(is_same(bare, (struct place){"/a/libx.so.1", "0x40", 2}));
    const struct place unknown = {"/a/app", "0x40", 0};
    assert_true(is_same(unknown, (struct place){"/a/app", "0x40", 0}));
    assert_false(is_same(unknown, (struct place){"/b/app", "0x40", 0}));
}

static void a_module_may_have_another_name(void **state)
{
    (void)state;
    const struct place old = {"/a/app.old", "f", 1}, next = {"/a/app.new", "f", 2};
    struct profile *profile = profile_new();
    made_address(profile, made_lib(profile, next.path, next.build_id), 16, next.name);
    profile->funcs[0].file = profile_string(profile, "a.c");
    struct buffer key = {0}, expected = key_of(&old, append_key);
    function_key_append(&key, profile, 0, "app.old");
    assert_int_equal(key.size, expected.size);
    assert_memory_equal(key.bytes, expected.bytes, key.size);
    profile_free(profile);
    buffer_free(&key);
    buffer_free(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_librarys_version_is_not_part_of_the_module),
        cmocka_unit_test(a_compilers_suffixes_are_not_part_of_the_name),
        cmocka_unit_test(suffixes_cost_time_by_their_bytes),
        cmocka_unit_test(suffixes_are_whole_components),
        cmocka_unit_test(functions_match_by_module_and_name_across_builds),
        cmocka_unit_test(code_without_a_name_matches_in_the_same_build_only),
        cmocka_unit_test(a_module_may_have_another_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

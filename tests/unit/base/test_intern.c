/* SPDX-License-Identifier: MIT */
#include "base/containers/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void equal_bytes_get_equal_dense_ids(void **state)
{
    (void)state;
    struct intern *intern = intern_new();
    assert_int_equal(intern_text(intern, "main"), 0);
    assert_int_equal(intern_text(intern, "work"), 1);
    assert_int_equal(intern_text(intern, "main"), 0);
    assert_int_equal(intern_text(intern, ""), 2);
    assert_int_equal(intern_count(intern), 3);
    assert_int_equal(intern_find(intern, "work", 4), 1);
    assert_int_equal(intern_find(intern, "wor", 3), INTERN_NONE);
    assert_int_equal(intern_count(intern), 3);
    intern_free(intern);
}

static void zeros_and_prefixes_are_told_apart(void **state)
{
    (void)state;
    struct intern *intern = intern_new();
    uint32_t one = intern_add(intern, "\0", 1);
    uint32_t two = intern_add(intern, "\0\0", 2);
    uint32_t none = intern_add(intern, "", 0);
    assert_true(one != two && two != none && one != none);
    size_t size;
    intern_bytes(intern, two, &size);
    assert_int_equal(size, 2);
    intern_free(intern);
}

static void content_survives_growth_aligned_and_terminated(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct intern *intern = intern_new();
    char text[32];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "name %u", i);
        assert_int_equal(intern_text(intern, text), i);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "name %u", i);
        assert_int_equal(intern_text(intern, text), i);
        assert_string_equal(intern_string(intern, i), text);
        assert_int_equal((uintptr_t)intern_bytes(intern, i, NULL) % 8, 0);
    }
    assert_int_equal(intern_count(intern), COUNT);
    intern_free(intern);
    intern_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_get_equal_dense_ids),
        cmocka_unit_test(zeros_and_prefixes_are_told_apart),
        cmocka_unit_test(content_survives_growth_aligned_and_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

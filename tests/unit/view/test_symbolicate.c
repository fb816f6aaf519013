/* SPDX-License-Identifier: MIT */
/* Names for viewers: a hostile capture has many libs of one name and id. */
#include "view/requests/requests.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LIBS = 2000 };

static struct profile *profile_of_equal_libs(void)
{
    struct profile *profile = profile_new();
    for (int i = 0; i < LIBS; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/none/%d/same", i);
        profile_lib_id(profile, path, NULL, 0);
    }
    return profile;
}

/* Whether a request with this number of frames has names as its reply, not an error. */
static bool has_reply(const struct capture_index *index, const char *name, size_t frames)
{
    const struct request_context context = {.index = index};
    struct buffer body = {0}, out = {0};
    buffer_printf(&body, "{\"jobs\":[{\"memoryMap\":[[\"%s\",\"%s\"]],\"stacks\":[[[0,7]", name,
                  index->debug_ids[0]);
    for (size_t i = 1; i < frames; i++)
        buffer_text(&body, ",[0,7]");
    buffer_text(&body, "]]}]}");
    buffer_u8(&body, 0);
    assert_true(requests_answer(&context, "symbolicate/v5", &body, &out));
    buffer_u8(&out, 0);
    assert_false(body.failed || out.failed);
    bool is_error = strstr((const char *)out.bytes, "too many modules") != NULL;
    assert_true(is_error || strstr((const char *)out.bytes, "results"));
    buffer_free(&body);
    buffer_free(&out);
    return !is_error;
}

static void bounds_the_work_of_a_request(void **state)
{
    (void)state;
    struct profile *profile = profile_of_equal_libs();
    struct capture_index index;
    assert_int_equal(profile->lib_count, LIBS);
    assert_int_equal(capture_index_open(&index, profile), 0);
    assert_true(has_reply(&index, "same", 100));
    assert_false(has_reply(&index, "same", 1000));
    assert_true(has_reply(&index, "other", 1000));
    capture_index_close(&index);
    profile_free(profile);
}

/* CPU time for a function that the capture lacks. */
static uint64_t search_ns(const struct capture_index *index, uint32_t lib)
{
    const uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 20; i++)
        assert_int_equal(capture_index_symbol(index, lib, 1), PROFILE_NONE);
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

/* A pass over all functions for each lib would take LIBS times as long. */
static void finds_a_function_of_equal_libs_in_one_pass(void **state)
{
    (void)state;
    struct profile *profile = profile_of_equal_libs();
    struct capture_index index;
    uint32_t alone = profile_lib_id(profile, "/none/alone", NULL, 0);
    profile->libs[LIBS - 1].base_svma = 0x1000;
    for (uint32_t i = 0; i < LIBS; i++)
        profile_symbol_id(profile, &(struct profile_symbol){.lib = i, .svma = 0x5000});
    assert_int_equal(capture_index_open(&index, profile), 0);
    assert_int_equal(capture_index_symbol(&index, 0, 0x5000), 0);
    assert_int_equal(capture_index_symbol(&index, 0, 0x4000), LIBS - 1);
    assert_int_equal(capture_index_symbol(&index, alone, 0x5000), PROFILE_NONE);
    uint64_t alone_ns = search_ns(&index, alone), equal_ns = search_ns(&index, 0);
    assert_true(equal_ns < LIBS / 20 * alone_ns);
    capture_index_close(&index);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_the_work_of_a_request),
        cmocka_unit_test(finds_a_function_of_equal_libs_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Names for viewers: a hostile capture has many libs of one name and id. */
#include "view/requests/requests.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_the_work_of_a_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

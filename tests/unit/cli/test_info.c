/* SPDX-License-Identifier: MIT */
/* What `rec info --json` says, for scripts that parse it. */
#include "cli/report/info/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Parsers keep one member of a name, the first or the last. */
static void notes_of_one_key_are_one_member(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct info info;
    struct buffer out = {0};
    profile_add_event(profile,
                      &(struct profile_event){.name = profile_string(profile, "cpu-clock")});
    profile_add_note(profile, "no_names", "a.so: damaged");
    profile_add_note(profile, "samples", "10");
    profile_add_note(profile, "no_names", "b.so: damaged");
    assert_int_equal(info_build(&info, profile), 0);
    info_json(&info, "rec.data", &out);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    assert_non_null(strstr((char *)out.bytes,
                           "\"notes\":{\"no_names\":\"a.so: damaged\\u000ab.so: damaged\","
                           "\"samples\":\"10\"}"));
    info_free(&info);
    buffer_free(&out);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_of_one_key_are_one_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

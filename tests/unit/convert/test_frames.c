/* SPDX-License-Identifier: MIT */
#include "convert/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct profile *add(const struct symbol_frame *frame)
{
    struct profile *profile = profile_new();
    uint32_t lib = profile_lib_id(profile, "/bin/app", NULL, 0);
    uint32_t address = profile_address_id(profile, lib, 0x1000);
    const struct symbol_result result = {.frames = frame, .frame_count = 1};
    frames_add(profile, &profile->addresses[address], &result);
    return profile;
}

/* As observed with Go 1.26 for inlined functions. */
static void a_declaration_without_a_file_is_in_the_file_of_its_code(void **state)
{
    (void)state;
    const struct symbol_frame go = {.name = "maps.ctrlGroup.matchH2",
                                    .system_name = "maps.ctrlGroup.matchH2",
                                    .file = "group.go",
                                    .line = 154,
                                    .definition_line = 152};
    struct profile *profile = add(&go);
    const struct profile_func *func = &profile->funcs[profile->frames[0].func];
    assert_string_equal(profile_text(profile, func->file), "group.go");
    assert_int_equal(func->line, 152);
    profile_free(profile);
}

static void a_function_without_a_declaration_has_no_file(void **state)
{
    (void)state;
    const struct symbol_frame assembly = {
        .name = "memmove", .system_name = "memmove", .file = "memmove.S", .line = 7};
    struct profile *profile = add(&assembly);
    const struct profile_func *func = &profile->funcs[profile->frames[0].func];
    assert_int_equal(func->file, PROFILE_NONE);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declaration_without_a_file_is_in_the_file_of_its_code),
        cmocka_unit_test(a_function_without_a_declaration_has_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

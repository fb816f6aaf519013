/* SPDX-License-Identifier: MIT */
#include "annotate/annotation.h"

#include "base/containers/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { SYMBOLS = 5 };

/* A function inlined into several symbols of a file that is not there; the last has the most time. */
static struct profile *new_profile(void)
{
    struct profile *profile = profile_new();
    profile_add_event(profile, &(struct profile_event){.name = profile_string(profile, "cpu")});
    ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity)->name =
        profile_string(profile, "app");
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity)->name =
        profile_string(profile, "app");
    const uint32_t lib = profile_lib_id(profile, "/nowhere/app", NULL, 0);
    const uint32_t name = profile_string(profile, "work");
    const struct profile_func func = {
        .name = name, .system_name = name, .lib = lib, .file = PROFILE_NONE};
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        char caller[16];
        snprintf(caller, sizeof(caller), "caller%u", i);
        const struct profile_symbol symbol = {.lib = lib,
                                              .name = profile_string(profile, caller),
                                              .svma = 0x1000 * (i + 1),
                                              .bytes = 0x40};
        uint32_t address = profile_address_id(profile, lib, symbol.svma);
        profile->addresses[address].frame_count = 1;
        profile->addresses[address].first_frame = profile_add_frame(
            profile, &(struct profile_frame){.func = profile_func_id(profile, &func),
                                             .lib = lib,
                                             .svma = symbol.svma,
                                             .file = PROFILE_NONE,
                                             .symbol = profile_symbol_id(profile, &symbol)});
        profile_add_sample(
            profile, &(struct profile_sample){
                         .call = profile_call_id(profile, PROFILE_NONE, address), .weight = i + 1});
    }
    assert_int_equal(profile_finish_samples(profile), 0);
    profile_link_stacks(profile);
    return profile;
}

/* Each attempt to read code of the missing file leaves a reason. */
static size_t count_read(size_t symbols_with_code, size_t *symbol_count)
{
    struct profile *profile = new_profile();
    const struct convert_options options = {.symfs = NULL};
    const struct source_dirs dirs = {.count = 0};
    const struct annotation_request request = {.profile = profile,
                                               .options = &options,
                                               .dirs = &dirs,
                                               .function = "work",
                                               .symbols_with_code = symbols_with_code};
    struct annotation annotation;
    struct error error;
    size_t read = 0;
    assert_int_equal(annotation_build(&annotation, &request, &error), 0);
    *symbol_count = annotation.symbol_count;
    while (read < annotation.symbol_count && annotation.symbols[read].error.text[0])
        read++;
    for (size_t i = read; i < annotation.symbol_count; i++)
        assert_int_equal(annotation.symbols[i].error.text[0], '\0');
    annotation_free(&annotation);
    profile_free(profile);
    return read;
}

static void only_the_requested_number_of_symbols_is_read(void **state)
{
    (void)state;
    size_t symbols;
    assert_int_equal(count_read(2, &symbols), 2);
    assert_int_equal(symbols, SYMBOLS);
    assert_int_equal(count_read(SIZE_MAX, &symbols), SYMBOLS);
    assert_int_equal(count_read(0, &symbols), 0);
    assert_int_equal(symbols, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_requested_number_of_symbols_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

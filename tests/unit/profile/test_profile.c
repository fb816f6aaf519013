/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "base/containers/array.h"
#include "sample_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int open_profile(void **state)
{
    *state = profile_new();
    return *state ? 0 : -1;
}

static int close_profile(void **state)
{
    profile_free(*state);
    return 0;
}

static void add_sample(struct profile *profile, uint32_t call, uint64_t weight_ns)
{
    if (profile->thread_count == 0)
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    const struct profile_sample sample = {.weight = weight_ns, .call = call};
    assert_int_equal(profile_add_sample(profile, &sample), 0);
}

/* An address whose frames are functions of these names, outermost first. */
static uint32_t add_address(struct profile *profile, uint64_t svma, const char *const *names)
{
    uint32_t address = profile_address_id(profile, PROFILE_NONE, svma);
    for (uint32_t depth = 0; names[depth]; depth++) {
        uint32_t name = profile_string(profile, names[depth]);
        struct profile_func func = {
            .name = name, .system_name = name, .lib = PROFILE_NONE, .file = PROFILE_NONE};
        struct profile_frame frame = {.func = profile_func_id(profile, &func),
                                      .lib = PROFILE_NONE,
                                      .svma = svma,
                                      .file = PROFILE_NONE,
                                      .symbol = PROFILE_NONE,
                                      .inline_depth = depth};
        uint32_t id = profile_add_frame(profile, &frame);
        if (depth == 0)
            profile->addresses[address].first_frame = id;
        profile->addresses[address].frame_count = depth + 1;
    }
    return address;
}

/* "root;…;leaf" of a stack. */
static const char *spell(const struct profile *profile, uint32_t stack)
{
    static char text[256];
    if (stack == PROFILE_NONE)
        return strcpy(text, "");
    char outer[256];
    strcpy(outer, spell(profile, profile->stacks[stack].parent));
    const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    snprintf(text, sizeof(text), "%.120s%s%.120s", outer, outer[0] ? ";" : "",
             profile_text(profile, profile->funcs[frame->func].name));
    return text;
}

static void equal_elements_share_one_index(void **state)
{
    struct profile *profile = *state;
    const uint8_t id[] = {1, 2, 3};
    assert_int_equal(profile_lib_id(profile, "/a/b", id, 3), 0);
    assert_int_equal(profile_lib_id(profile, "/a/b", id, 2), 1);
    assert_int_equal(profile_lib_id(profile, "/a/b", NULL, 0), 2);
    assert_int_equal(profile_lib_id(profile, "/a/b", id, 3), 0);
    assert_int_equal(profile->lib_count, 3);

    assert_int_equal(profile_address_id(profile, 0, 16), 0);
    assert_int_equal(profile_address_id(profile, 1, 16), 1);
    assert_int_equal(profile_address_id(profile, 0, 16), 0);
    assert_int_equal(profile_call_id(profile, PROFILE_NONE, 0), 0);
    assert_int_equal(profile_call_id(profile, 0, 1), 1);
    assert_int_equal(profile_call_id(profile, PROFILE_NONE, 0), 0);

    struct profile_symbol symbol = {.lib = 0, .name = 0, .svma = 16, .bytes = 4};
    assert_int_equal(profile_symbol_id(profile, &symbol), 0);
    symbol.bytes = 5;
    assert_int_equal(profile_symbol_id(profile, &symbol), 1);
    assert_int_equal(profile->symbols[1].bytes, 5);
    assert_false(profile->failed);
}

static void what_ended_is_not_found_but_added(void **state)
{
    struct profile *profile = *state;
    const struct profile_func func = {.file = PROFILE_NONE};
    const struct profile_symbol symbol = {.svma = 16, .bytes = 4};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(profile_address_id(profile, 0, 16), i);
        assert_int_equal(profile_call_id(profile, PROFILE_NONE, 0), i);
        assert_int_equal(profile_func_id(profile, &func), i);
        assert_int_equal(profile_symbol_id(profile, &symbol), i);
        profile_end_calls(profile);
        profile_end_names(profile);
    }
    assert_int_equal(profile->address_count, 3);
    assert_int_equal(profile->func_count, 3);
    assert_int_equal(profile->symbol_count, 3);
    assert_false(profile->failed);
}

/* In a function of its own: the call may move profile->libs. */
static const struct profile_lib *lib_of(struct profile *profile, const char *path)
{
    uint32_t id = profile_lib_id(profile, path, NULL, 0);
    return &profile->libs[id];
}

static void a_lib_is_named_by_its_last_component_and_keeps_its_build_id(void **state)
{
    struct profile *profile = *state;
    const uint8_t id[24] = {9, 8, 7};
    uint32_t first = profile_lib_id(profile, "/usr/lib/libx.so.1", id, 3);
    const struct profile_lib *lib = &profile->libs[first];
    assert_string_equal(profile_text(profile, lib->path), "/usr/lib/libx.so.1");
    assert_string_equal(profile_text(profile, lib->name), "libx.so.1");
    assert_int_equal(lib->build_id_bytes, 3);
    assert_memory_equal(lib->build_id, id, 3);
    assert_false(lib->is_synthetic);
    uint32_t longest = profile_lib_id(profile, "/b", id, sizeof(id));
    assert_int_equal(profile->libs[longest].build_id_bytes, 20);
}

static void bracketed_names_are_synthetic_but_the_vdso_is_code(void **state)
{
    struct profile *profile = *state;
    assert_true(lib_of(profile, "[exit]")->is_synthetic);
    assert_true(lib_of(profile, "[kernel]")->is_synthetic);
    assert_false(lib_of(profile, "[vdso]")->is_synthetic);
    assert_false(lib_of(profile, "/x/[")->is_synthetic);
}

/* The path is read while the string table that holds it grows. */
static void a_path_may_come_from_the_profile_itself(void **state)
{
    struct profile *profile = *state;
    for (int i = 0; i < 2000; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/dir/lib%d", i);
        uint32_t string = profile_string(profile, path);
        uint32_t lib = profile_lib_id(profile, profile_text(profile, string), NULL, 0);
        assert_string_equal(profile_text(profile, profile->libs[lib].name), path + 5);
    }
}

static void a_stack_has_one_node_for_each_inlined_frame(void **state)
{
    struct profile *profile = *state;
    uint32_t root = add_address(profile, 1, (const char *[]){"main", NULL});
    uint32_t chain = add_address(profile, 2, (const char *[]){"outer", "mid", "inner", NULL});
    uint32_t leaf = add_address(profile, 3, (const char *[]){"leaf", NULL});
    uint32_t main_call = profile_call_id(profile, PROFILE_NONE, root);
    uint32_t chain_call = profile_call_id(profile, main_call, chain);
    uint32_t leaf_call = profile_call_id(profile, chain_call, leaf);
    add_sample(profile, leaf_call, 5);
    add_sample(profile, chain_call, 7);
    add_sample(profile, main_call, 11);
    profile_link_stacks(profile);

    assert_string_equal(spell(profile, sample_at(profile, 0).stack), "main;outer;mid;inner;leaf");
    assert_string_equal(spell(profile, sample_at(profile, 1).stack), "main;outer;mid;inner");
    assert_string_equal(spell(profile, sample_at(profile, 2).stack), "main");
    assert_int_equal(profile->stack_count, 5);
    for (uint32_t i = 0; i < profile->stack_count; i++)
        assert_true(profile->stacks[i].parent == PROFILE_NONE || profile->stacks[i].parent < i);
    assert_int_equal(profile_total(profile), 23);
}

static void samples_without_a_stack_get_a_frame_that_says_so(void **state)
{
    struct profile *profile = *state;
    add_sample(profile, PROFILE_NONE, 3);
    add_sample(profile, PROFILE_NONE, 4);
    profile_link_stacks(profile);
    assert_int_equal(sample_at(profile, 0).call, sample_at(profile, 1).call);
    assert_int_equal(sample_at(profile, 0).stack, sample_at(profile, 1).stack);
    assert_string_equal(spell(profile, sample_at(profile, 0).stack), "[no stack]");
    const struct profile_frame *frame = &profile->frames[0];
    assert_int_equal(frame->category, PROFILE_SYNTHETIC);
    assert_true(profile->libs[frame->lib].is_synthetic);
}

static void notes_keep_their_order_are_there_once_and_found_by_key(void **state)
{
    struct profile *profile = *state;
    profile_add_note(profile, "samples", "10");
    profile_add_note(profile, "lost", "0");
    profile_add_note(profile, "samples", "10");
    assert_int_equal(profile->note_count, 2);
    assert_string_equal(profile_text(profile, profile->notes[1].key), "lost");
    assert_string_equal(profile_note(profile, "samples"), "10");
    assert_null(profile_note(profile, "nothing"));
    assert_string_equal(profile_text(profile, PROFILE_NONE), "");
}

static void notes_beyond_the_limit_are_counted(void **state)
{
    struct profile *profile = *state;
    char key[16];
    for (int i = 0; i < PROFILE_NOTES_MAX + 3; i++) {
        snprintf(key, sizeof(key), "%d", i);
        profile_add_note(profile, key, "");
    }
    profile_add_note(profile, "0", "");
    assert_int_equal(profile->note_count, PROFILE_NOTES_MAX);
    assert_int_equal(profile->notes_left_out, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_profile, close_profile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_elements_share_one_index),
        TEST(what_ended_is_not_found_but_added),
        TEST(a_lib_is_named_by_its_last_component_and_keeps_its_build_id),
        TEST(bracketed_names_are_synthetic_but_the_vdso_is_code),
        TEST(a_path_may_come_from_the_profile_itself),
        TEST(a_stack_has_one_node_for_each_inlined_frame),
        TEST(samples_without_a_stack_get_a_frame_that_says_so),
        TEST(notes_keep_their_order_are_there_once_and_found_by_key),
        TEST(notes_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "annotate/tally.h"

#include "base/containers/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

struct place {
    uint32_t func, symbol;
    uint64_t svma;
    uint32_t line;
};

static struct profile *new_profile(void)
{
    struct profile *profile = profile_new();
    profile_add_event(profile, &(struct profile_event){.name = profile_string(profile, "cpu")});
    struct profile_process *process =
        ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    process->name = profile_string(profile, "app");
    struct profile_thread *thread =
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    thread->name = profile_string(profile, "app");
    thread->is_main = true;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t name = profile_string(profile, i ? "g" : "f");
        profile_func_id(profile, &(struct profile_func){.name = name,
                                                        .system_name = name,
                                                        .lib = PROFILE_NONE,
                                                        .file = PROFILE_NONE});
        profile_symbol_id(profile, &(struct profile_symbol){.lib = PROFILE_NONE,
                                                            .name = name,
                                                            .svma = 0x100 * (i + 1),
                                                            .bytes = 0x40});
    }
    return profile;
}

static uint32_t address_of(struct profile *profile, const struct place *place)
{
    uint32_t address = profile_address_id(profile, PROFILE_NONE, place->svma);
    struct profile_address *of = &profile->addresses[address];
    if (of->frame_count)
        return address;
    of->frame_count = 1;
    of->first_frame =
        profile_add_frame(profile, &(struct profile_frame){.func = place->func,
                                                           .lib = PROFILE_NONE,
                                                           .svma = place->svma,
                                                           .file = profile_string(profile, "/a.c"),
                                                           .line = place->line,
                                                           .symbol = place->symbol});
    return address;
}

static void add_sample(struct profile *profile, const struct place *places, size_t count,
                       uint64_t weight)
{
    uint32_t call = PROFILE_NONE;
    for (size_t i = 0; i < count; i++)
        call = profile_call_id(profile, call, address_of(profile, &places[i]));
    profile_add_sample(
        profile, &(struct profile_sample){.weight = weight, .call = call, .cpu = PROFILE_NO_CPU});
}

static uint64_t four_bytes_each(const void *context, uint32_t symbol, uint64_t svma)
{
    (void)context, (void)symbol;
    return svma & ~UINT64_C(3);
}

/* f at line 10 calls itself at line 11; g is another function. */
static const struct place f10 = {0, 0, 0x104, 10}, f11 = {0, 0, 0x10b, 11},
                          f11_leaf = {0, 0, 0x108, 11}, g20 = {1, 1, 0x204, 20};

static struct profile *recursive_profile(void)
{
    struct profile *profile = new_profile();
    add_sample(profile, (struct place[]){f11, f11, f10}, 3, 100);
    add_sample(profile, (struct place[]){f11, f11_leaf}, 2, 10);
    add_sample(profile, (struct place[]){f11, g20}, 2, 1);
    assert_int_equal(profile_finish_samples(profile), 0);
    profile_link_stacks(profile);
    return profile;
}

static void recursion_counts_once_per_stack(void **state)
{
    (void)state;
    struct profile *profile = recursive_profile();
    const bool chosen[] = {true, false};
    struct tally tally;
    assert_int_equal(
        tally_build(&tally, &(struct tally_request){.profile = profile, .chosen = chosen}), 0);
    assert_int_equal(tally.whole, 111);
    assert_int_equal(tally.self, 110);
    assert_int_equal(tally.total, 111);
    assert_int_equal(tally.line_count, 2);
    assert_int_equal(tally.lines[0].line, 10);
    assert_int_equal(tally.lines[0].self, 100);
    assert_int_equal(tally.lines[0].total, 100);
    assert_int_equal(tally.lines[1].self, 10);
    assert_int_equal(tally.lines[1].total, 111);
    tally_free(&tally);
    profile_free(profile);
}

/* Leaf at the first byte, caller at the last byte of one call instruction. */
static void an_instruction_counts_once_per_stack(void **state)
{
    (void)state;
    struct profile *profile = recursive_profile();
    const bool chosen[] = {true, false};
    struct tally tally;
    const struct tally_request request = {
        .profile = profile, .chosen = chosen, .instruction_at = four_bytes_each};
    assert_int_equal(tally_build(&tally, &request), 0);
    assert_int_equal(tally.address_count, 2);
    assert_int_equal(tally_of(&tally, 0, 0x108).total, 111);
    assert_int_equal(tally_of(&tally, 0, 0x108).self, 10);
    assert_int_equal(tally_of(&tally, 0, 0x104).self, 100);
    assert_int_equal(tally_of(&tally, 1, 0x204).total, 0);
    tally_free(&tally);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_counts_once_per_stack),
        cmocka_unit_test(an_instruction_counts_once_per_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Walks that end where a Go program called the vDSO, continued by callchains. */
#include "record/perf_ring/walk/vdso_tail.h"

#include "record/tables/modules/known_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 8, GO = 1000, C = 2000, VDSO = 9000, BYTES = 500 };
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static char vdso_path[] = "[vdso]", go_path[] = "/go", c_path[] = "/c";

/* Appends to `walked`, and compares all frames. */
static void check(const uint64_t *walked, size_t walked_count, const uint64_t *chain,
                  size_t chain_count, const uint64_t *expected, size_t expected_count,
                  bool is_appended)
{
    struct known_module vdso = {.path = vdso_path}, go = {.path = go_path, .is_go = true};
    struct known_module c = {.path = c_path};
    struct process_mapping mappings[] = {
        {.start_avma = GO, .end_avma = GO + BYTES, .module = &go},
        {.start_avma = C, .end_avma = C + BYTES, .module = &c},
        {.start_avma = VDSO, .end_avma = VDSO + BYTES, .module = &vdso}};
    const struct process_map map = {.mappings = mappings, .count = COUNT(mappings)};
    uint64_t frames[ROOM];
    struct cut_walk walk = {frames, walked_count, ROOM};
    memcpy(frames, walked, walked_count * sizeof(*walked));
    size_t caller = vdso_tail_caller(&walk, &map);
    bool has_appended = caller > 0 && vdso_tail_append(&walk, caller, chain, chain_count);
    assert_int_equal(has_appended, is_appended);
    assert_int_equal(walk.count, expected_count);
    assert_memory_equal(frames, expected, expected_count * sizeof(*expected));
}
#define CHECK(walked, chain, expected, is_appended) \
    check(walked, COUNT(walked), chain, COUNT(chain), expected, COUNT(expected), is_appended)

static void callers_are_those_of_the_frame_pointers(void **state)
{
    (void)state;
    const uint64_t walked[] = {VDSO + 20, GO + 10};
    const uint64_t chain[] = {VDSO + 20, GO + 10, GO + 50, GO + 60, GO + 70};
    CHECK(walked, chain, chain, true);
}

static void words_of_the_other_stack_are_no_frames(void **state)
{
    (void)state;
    const uint64_t walked[] = {VDSO + 20, GO + 10, C + 33, GO + 44};
    const uint64_t chain[] = {VDSO + 20, GO + 10, GO + 50};
    CHECK(walked, chain, chain, true);
}

static void functions_of_the_vdso_without_a_frame_pointer_stay(void **state)
{
    (void)state;
    const uint64_t walked[] = {VDSO + 90, VDSO + 20, GO + 10};
    const uint64_t chain[] = {VDSO + 90, GO + 10, GO + 50};
    const uint64_t expected[] = {VDSO + 90, VDSO + 20, GO + 10, GO + 50};
    CHECK(walked, chain, expected, true);
}

/* In the prologue of the vDSO's function. */
static void a_chain_without_the_caller_is_not_used(void **state)
{
    (void)state;
    const uint64_t walked[] = {VDSO + 20, GO + 10};
    const uint64_t chain[] = {VDSO + 20, GO + 50, GO + 60};
    CHECK(walked, chain, walked, false);
}

static void other_stacks_are_unchanged(void **state)
{
    (void)state;
    const uint64_t of_c[] = {VDSO + 20, C + 10}, without[] = {GO + 20, GO + 10}, only[] = {VDSO};
    const uint64_t chain[] = {VDSO + 20, C + 10, GO + 10, GO + 50};
    CHECK(of_c, chain, of_c, false);
    CHECK(without, chain, without, false);
    CHECK(only, chain, only, false);
}

static void marks_of_the_kernel_and_frames_without_room_are_left_out(void **state)
{
    (void)state;
    const uint64_t walked[] = {VDSO + 20, GO + 10};
    const uint64_t marked[] = {VDSO + 20, GO + 10, GO + 50, UINT64_MAX - 511, GO + 60};
    const uint64_t before_mark[] = {VDSO + 20, GO + 10, GO + 50};
    const uint64_t long_chain[] = {VDSO + 20, GO + 10, GO + 1, GO + 2, GO + 3,
                                   GO + 4,    GO + 5,  GO + 6, GO + 7};
    const uint64_t kept[ROOM] = {VDSO + 20, GO + 10, GO + 1, GO + 2,
                                 GO + 3,    GO + 4,  GO + 5, GO + 6};
    CHECK(walked, marked, before_mark, true);
    CHECK(walked, long_chain, kept, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_those_of_the_frame_pointers),
        cmocka_unit_test(words_of_the_other_stack_are_no_frames),
        cmocka_unit_test(functions_of_the_vdso_without_a_frame_pointer_stay),
        cmocka_unit_test(a_chain_without_the_caller_is_not_used),
        cmocka_unit_test(other_stacks_are_unchanged),
        cmocka_unit_test(marks_of_the_kernel_and_frames_without_room_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

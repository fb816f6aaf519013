/* SPDX-License-Identifier: MIT */
/* What a sampler copied of a stack is found where it lay, and nothing else is. */
#include "record/sample/stack_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A stack of six parts of four words: leaf, three of the middle, hole, root. */
enum { PART = 4, PART_BYTES = 8 * PART, WORDS = 2 };
#define START UINT64_C(0x7ffe0000)
#define MIDDLE (START + PART_BYTES)
#define HOLE (MIDDLE + 3 * PART_BYTES)
#define ROOT (HOLE + PART_BYTES)
#define CODE UINT64_C(0x7fffffffffff) /* as high as an address can be */

struct record {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    uint64_t frame;
    uint64_t leaf[PART];
    uint64_t words[WORDS];
    uint64_t root[PART];
};

static struct record make(void)
{
    return (struct record){
        .header = {.bytes = sizeof(struct record), .kind = RECORD_COPY},
        .stack = {.frame_count = 1},
        .copy = {.leaf_bytes = PART_BYTES,
                 .middle_bytes = 3 * PART_BYTES,
                 .root_bytes = PART_BYTES,
                 .word_count = WORDS,
                 .stack_start_avma = START,
                 .stack_end_avma = ROOT + PART_BYTES},
        .frame = 0x401000,
        .leaf = {1, 2, 3, 4},
        .words = {record_word(0, CODE), record_word(11, START + 5)},
        .root = {91, 92, 93, 94},
    };
}

static struct stack_copy parsed(const struct record *record)
{
    struct stack_copy copied;
    assert_true(stack_copy_parse(&copied, (const uint8_t *)record, sizeof(*record)));
    return copied;
}

static uint64_t word_at(const struct stack_copy_view *stack, uint64_t avma)
{
    uint64_t word = 0;
    assert_true(stack_load(&stack->view, avma, &word));
    return word;
}

static void each_part_lies_where_it_lay(void **state)
{
    (void)state;
    struct record record = make();
    struct stack_copy copied = parsed(&record);
    struct buffer room = {0};
    assert_int_equal(copied.frames[0], 0x401000);
    for (int i = 0; i < 2; i++) { /* also in room that was used before */
        struct stack_copy_view stack;
        assert_true(stack_copy_view(&copied, &room, &stack));
        for (uint64_t word = 0; word < PART; word++) {
            assert_int_equal(word_at(&stack, START + 8 * word), 1 + word);
            assert_int_equal(word_at(&stack, ROOT + 8 * word), 91 + word);
        }
        assert_int_equal(word_at(&stack, MIDDLE), CODE);
        assert_int_equal(word_at(&stack, MIDDLE + 8 * 11), START + 5);
    }
    buffer_free(&room);
}

/* Neither is an address, so no walk goes on from there, nor ends as if there were nothing more. */
static void a_word_that_was_not_taken_is_no_address(void **state)
{
    (void)state;
    struct record record = make();
    struct stack_copy copied = parsed(&record);
    struct stack_copy_view stack;
    struct buffer room = {0};
    assert_true(stack_copy_view(&copied, &room, &stack));
    for (uint64_t word = 1; word < 11; word++)
        assert_in_range(word_at(&stack, MIDDLE + 8 * word), UINT64_C(1) << 63, UINT64_MAX);
    buffer_free(&room);
}

static void what_was_not_copied_is_not_there(void **state)
{
    (void)state;
    struct record record = make();
    struct stack_copy copied = parsed(&record);
    struct stack_copy_view stack;
    struct buffer room = {0};
    uint64_t word;
    assert_false(stack_copy_is_whole(&copied));
    assert_true(stack_copy_view(&copied, &room, &stack));
    assert_false(stack_load(&stack.view, START - 8, &word));
    assert_false(stack_load(&stack.view, HOLE, &word));
    assert_false(stack_load(&stack.view, ROOT - 8, &word));
    assert_false(stack_load(&stack.view, ROOT + PART_BYTES, &word));
    buffer_free(&room);
}

static void a_stack_is_whole_without_middle_and_hole(void **state)
{
    (void)state;
    struct record record = make();
    record.copy.stack_end_avma = HOLE + PART_BYTES; /* no hole */
    struct stack_copy copied = parsed(&record);
    assert_false(stack_copy_is_whole(&copied));
    record.copy.stack_end_avma = MIDDLE + PART_BYTES;
    copied = parsed(&record);
    assert_true(stack_copy_is_whole(&copied));
}

static void words_of_no_place_in_the_middle_are_not_taken(void **state)
{
    (void)state;
    struct record record = make();
    record.words[0] = record_word(12, CODE);
    record.words[1] = UINT64_MAX;
    struct stack_copy copied = parsed(&record);
    struct stack_copy_view stack;
    struct buffer room = {0};
    assert_true(stack_copy_view(&copied, &room, &stack));
    for (uint64_t word = 0; word < 12; word++)
        assert_in_range(word_at(&stack, MIDDLE + 8 * word), UINT64_C(1) << 63, UINT64_MAX);
    buffer_free(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_lies_where_it_lay),
        cmocka_unit_test(a_word_that_was_not_taken_is_no_address),
        cmocka_unit_test(what_was_not_copied_is_not_there),
        cmocka_unit_test(a_stack_is_whole_without_middle_and_hole),
        cmocka_unit_test(words_of_no_place_in_the_middle_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

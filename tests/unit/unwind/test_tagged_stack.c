/* SPDX-License-Identifier: MIT */
/* Callers on the stack of an Erlang process, made here: generated code at CODE, terms and return addresses. */
#include "unwind/generated/tagged_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    CODE = 0x100000,
    CODE_BYTES = 0x1000,
    IN_LEAF = 0x104,
    BEHIND_CALL = 0x200,
    NO_CALL = 0x300,
    TERM = 0x15f
};
#define STACK UINT64_C(0x7f0000000000)

struct fixture {
    bool has_entry;
    struct code_leave leave;
};

static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    (void)context;
    *place = (struct code_place){0};
    return avma - CODE < CODE_BYTES;
}

static bool find_entry(void *context, uint64_t avma, struct code_entry *entry)
{
    (void)avma;
    *entry = (struct code_entry){0x4110, 64};
    return ((struct fixture *)context)->has_entry;
}

static bool find_leave(void *context, uint64_t avma, struct code_leave *leave)
{
    *leave = avma == CODE + IN_LEAF ? ((struct fixture *)context)->leave
                                    : (struct code_leave){LEAVE_RETURNS, 0, 0};
    return leave->kind != LEAVE_UNKNOWN;
}

static bool find_call(void *context, uint64_t return_avma, bool *is_behind_call)
{
    (void)context;
    *is_behind_call = return_avma == CODE + BEHIND_CALL;
    return return_avma - CODE < CODE_BYTES;
}

static const struct generated_code generated = {
    .find_entry = find_entry, .find_leave = find_leave, .find_call = find_call};

static struct caller find(struct fixture *f, uint64_t pc, bool is_return_address,
                          const uint64_t *words, size_t count, bool is_made_stack)
{
    const struct code_map map = {.find = find_code,
                                 .generated = &generated,
                                 .generated_context = f,
                                 .is_made_stack = is_made_stack};
    const struct stack_view stack = {STACK, STACK + 8 * count, (const uint8_t *)words, NULL};
    const struct stack_frame callee = {.regs = {.pc = pc, .sp = STACK},
                                       .is_return_address = is_return_address};
    return tagged_stack_caller(&map, &callee, &stack);
}

static void assert_caller(struct caller caller, size_t place)
{
    assert_int_equal(caller.evidence, CALLER_PLAUSIBLE);
    assert_int_equal(caller.frame.regs.pc, CODE + BEHIND_CALL);
    assert_int_equal(caller.frame.regs.sp, STACK + 8 * (place + 1));
    assert_true(caller.frame.is_return_address);
}

static void a_return_address_is_behind_the_terms(void **state)
{
    (void)state;
    struct fixture f = {.has_entry = true};
    const uint64_t words[] = {TERM, TERM, CODE + BEHIND_CALL, CODE + BEHIND_CALL};
    assert_caller(find(&f, CODE + 0x20, true, words, 4, true), 2);
    assert_int_equal(find(&f, CODE + 0x20, true, words, 2, true).evidence, CALLER_BEYOND);
}

static void the_code_states_the_place_of_the_innermost_one(void **state)
{
    (void)state;
    /* The first words are stale: the function has not written its terms yet. */
    const uint64_t words[] = {CODE + BEHIND_CALL, CODE + BEHIND_CALL, CODE + BEHIND_CALL, TERM};
    struct fixture f = {true, {LEAVE_RETURNS, 16, 0}};
    assert_caller(find(&f, CODE + IN_LEAF, false, words, 4, true), 2);
    f.leave.return_bytes = 24;
    assert_int_equal(find(&f, CODE + IN_LEAF, false, words, 4, true).evidence, CALLER_NONE);
    f.leave.kind = LEAVE_UNKNOWN;
    assert_int_equal(find(&f, CODE + IN_LEAF, false, words, 4, true).evidence, CALLER_NONE);
}

static void a_jump_in_the_function_leads_on(void **state)
{
    (void)state;
    const uint64_t words[] = {TERM, CODE + BEHIND_CALL, TERM};
    struct fixture f = {true, {LEAVE_JUMPS, 8, CODE + 0x180}};
    assert_caller(find(&f, CODE + IN_LEAF, false, words, 3, true), 1);
    /* A term is at the place: the jump stays in the function, and ends with the way from its target. */
    const uint64_t behind[] = {CODE + BEHIND_CALL, TERM};
    f.leave = (struct code_leave){LEAVE_JUMPS, 8, CODE + IN_LEAF};
    assert_int_equal(find(&f, CODE + IN_LEAF, false, behind, 2, true).evidence, CALLER_BEYOND);
}

static void the_process_ends_at_an_address_behind_no_call(void **state)
{
    (void)state;
    struct fixture f = {.has_entry = true};
    const uint64_t words[] = {TERM, CODE + NO_CALL, TERM};
    struct caller caller = find(&f, CODE + 0x20, true, words, 3, true);
    assert_int_equal(caller.evidence, CALLER_IS_ROOT);
    assert_int_equal(caller.frame.regs.pc, CODE + 0x20);
}

static void other_words_and_stacks_have_no_caller(void **state)
{
    (void)state;
    struct fixture f = {.has_entry = true};
    const uint64_t zero[] = {TERM, 0, CODE + BEHIND_CALL},
                   data[] = {TERM, STACK + 64, CODE + BEHIND_CALL};
    const uint64_t good[] = {CODE + BEHIND_CALL, TERM};
    assert_int_equal(find(&f, CODE + 0x20, true, zero, 3, true).evidence, CALLER_NONE);
    assert_int_equal(find(&f, CODE + 0x20, true, data, 3, true).evidence, CALLER_NONE);
    assert_int_equal(find(&f, CODE + 0x20, true, good, 2, false).evidence,
                     CALLER_NONE); /* a thread's stack */
    assert_int_equal(find(&f, CODE - 0x20, true, good, 2, true).evidence,
                     CALLER_NONE); /* no code */
    f.has_entry = false;           /* another runtime */
    assert_int_equal(find(&f, CODE + 0x20, true, good, 2, true).evidence, CALLER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_return_address_is_behind_the_terms),
        cmocka_unit_test(the_code_states_the_place_of_the_innermost_one),
        cmocka_unit_test(a_jump_in_the_function_leads_on),
        cmocka_unit_test(the_process_ends_at_an_address_behind_no_call),
        cmocka_unit_test(other_words_and_stacks_have_no_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

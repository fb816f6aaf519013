/* SPDX-License-Identifier: MIT */
/* The stack at each instruction of functions in hand-written machine code, and functions that are refused. */
#include "unwind/arch/x86_64_flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NONE = -1 };

static struct {
    struct flow flow;
    int64_t starts[4]; /* all firm but the last */
} code;

static bool starts_at(void *context, int64_t at, bool *is_firm)
{
    (void)context;
    for (int i = 0; i < 4; i++)
        if (code.starts[i] == at) {
            *is_firm = i < 3;
            return true;
        }
    return false;
}

static void starts_are(int64_t first, int64_t second, int64_t loose)
{
    code.starts[0] = first;
    code.starts[1] = second;
    code.starts[2] = NONE;
    code.starts[3] = loose;
}

/* Follows the code from its first byte on. */
static bool follow(const uint8_t *bytes, size_t size)
{
    flow_close(&code.flow);
    code.flow = (struct flow){.code = bytes, .bytes = size, .svma = 0x401000, .starts = starts_at};
    assert_int_equal(flow_open(&code.flow), 0);
    return x86_64_flow_follow(&code.flow, 0);
}

static void expect_refusal(const uint8_t *bytes, size_t size)
{
    assert_false(follow(bytes, size));
    for (size_t i = 0; i < size; i++)
        assert_int_equal(code.flow.states[i].kind, FLOW_UNKNOWN);
}

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ACCEPTED(...) assert_true(follow(BYTES(__VA_ARGS__)))
#define REFUSED(...) expect_refusal(BYTES(__VA_ARGS__))

static void assert_state(size_t at, int32_t depth, uint8_t fp_word)
{
    assert_int_equal(code.flow.states[at].kind, FLOW_AT);
    assert_int_equal(code.flow.states[at].depth, depth);
    assert_int_equal(code.flow.states[at].fp_word, fp_word);
}

static int set_up(void **state)
{
    (void)state;
    starts_are(0, NONE, NONE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flow_close(&code.flow);
    return 0;
}

static void pushes_and_locals_count_on_every_path(void **state)
{
    (void)state;
    /* push rbx; push rbp; sub 24; je +2; xor eax,eax; add 24; pop rbp; pop rbx; ret */
    ACCEPTED(0x53, 0x55, 0x48, 0x83, 0xec, 0x18, 0x74, 0x02, 0x31, 0xc0, 0x48, 0x83, 0xc4, 0x18,
             0x5d, 0x5b, 0xc3);
    assert_state(0, 0, 0);
    assert_state(1, 8, 0);
    assert_state(2, 16, 3);
    assert_state(6, 40, 3);
    assert_state(10, 40, 3);
    assert_state(15, 8, 0);
    assert_state(16, 0, 0);
    assert_int_equal(code.flow.states[3].kind, FLOW_INSIDE);
}

static void fp_leads_through_a_frame_of_unknown_size(void **state)
{
    (void)state;
    /* push rbp; mov rsp,rbp; sub rax,rsp; nop; leave; ret */
    ACCEPTED(0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0x90, 0xc9, 0xc3);
    assert_state(7, FLOW_BY_FP, 2);
    assert_int_equal(code.flow.states[7].fp_depth, 8);
    assert_state(9, 0, 0);
    /* The same without a frame pointer. */
    REFUSED(0x48, 0x29, 0xc4, 0x90, 0xc3);
    /* mov rsp,rax; and -32,rsp; mov rax,rsp; ret */
    REFUSED(0x48, 0x89, 0xe0, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x89, 0xc4, 0xc3);
}

static void wrong_stacks_are_refused(void **state)
{
    (void)state;
    REFUSED(0x50, 0xc3);                   /* push; ret */
    REFUSED(0x58, 0xc3);                   /* pop; ret */
    REFUSED(0x5c, 0xc3);                   /* pop rsp */
    REFUSED(0x48, 0x87, 0xc4, 0xc3);       /* xchg rax,rsp */
    REFUSED(0x48, 0x0f, 0x44, 0xe0, 0xc3); /* cmove rax,rsp */
    REFUSED(0xc2, 8, 0);                   /* ret 8 */
    REFUSED(0x90, 0x06);                   /* nop; no instruction */
    REFUSED(0x90);                         /* runs out of the code */
    /* The paths disagree: je +1; push rax; ret */
    REFUSED(0x74, 0x01, 0x50, 0xc3);
    /* Overlapping instructions: jmp into a mov, and over it: je +1; mov $0xc3,al; ret */
    REFUSED(0x74, 0x01, 0xb0, 0xc3, 0xc3);
}

static void calls_may_never_return(void **state)
{
    (void)state;
    /* push rax; je +5; pop rcx; ret; …; call; ud2; a call at the end */
    ACCEPTED(0x50, 0x74, 0x02, 0x59, 0xc3, 0xe8, 0, 0, 0, 0, 0x0f, 0x0b);
    assert_state(5, 8, 0);
    assert_state(10, 8, 0);
    /* Behind a call lies a function that is not known: push rbx; pop rbx; ret */
    ACCEPTED(0x50, 0x74, 0x02, 0x59, 0xc3, 0xe8, 0, 0, 0, 0, 0x53, 0x5b, 0xc3);
    assert_int_equal(code.flow.states[10].kind, FLOW_UNKNOWN);
    /* A known one, at another depth. */
    starts_are(0, 10, NONE);
    ACCEPTED(0x50, 0x74, 0x02, 0x59, 0xc3, 0xe8, 0, 0, 0, 0, 0x31, 0xc0, 0xc3);
    assert_int_equal(code.flow.states[10].kind, FLOW_UNKNOWN);
}

static void tail_calls_leave_with_an_empty_stack(void **state)
{
    (void)state;
    starts_are(0, 0x1000, NONE);
    ACCEPTED(0xe9, 0xfb, 0x0f, 0, 0); /* jmp 0x1000 */
    starts_are(0, 0x1001, NONE);
    REFUSED(0x50, 0xe9, 0xfb, 0x0f, 0, 0);
    starts_are(0, NONE, NONE);
    REFUSED(0xe9, 0xfb, 0x0f, 0, 0); /* to no function */
}

/* A label, as in a table of jumps: the path ends without a return. */
static void a_start_that_is_not_firm_has_to_return(void **state)
{
    (void)state;
    starts_are(NONE, NONE, 0);
    REFUSED(0x31, 0xc0, 0x0f, 0x0b); /* xor eax,eax; ud2 */
    ACCEPTED(0x31, 0xc0, 0xc3);
    starts_are(0, NONE, NONE);
    ACCEPTED(0x31, 0xc0, 0x0f, 0x0b);
}

static void random_code_is_harmless(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(96);
    srandom(3);
    for (int round = 0; round < 100000; round++) {
        size_t size = 1 + (size_t)random() % 95;
        for (size_t i = 0; i < 96; i++)
            bytes[i] = (uint8_t)(random() % 4 ? random() : 0x50 + random() % 16);
        starts_are(0, random() % 96, random() % 96);
        (void)follow(bytes + 96 - size, size); /* the allocation ends with the bytes */
        for (size_t i = 0; i < size; i++)
            (void)x86_64_flow_follow(&code.flow, i);
    }
    free(bytes);
}

static bool starts_everywhere(void *context, int64_t at, bool *is_firm)
{
    (void)context;
    (void)at;
    *is_firm = false;
    return true;
}

/* A file may state a start at each byte: each would be followed through all pushes behind. */
static void starts_at_each_byte_take_bounded_steps(void **state)
{
    (void)state;
    enum { BYTES = 1 << 16, TIMES = 16 };
    uint8_t *pushes = malloc(BYTES);
    memset(pushes, 0x50, BYTES);
    assert_false(follow(pushes, BYTES));
    code.flow.starts = starts_everywhere;
    for (size_t i = 0; i < BYTES; i++)
        assert_false(x86_64_flow_follow(&code.flow, i));
    assert_true(code.flow.steps <= (TIMES + 2) * (size_t)BYTES);
    free(pushes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(pushes_and_locals_count_on_every_path),
        TEST(fp_leads_through_a_frame_of_unknown_size),
        TEST(wrong_stacks_are_refused),
        TEST(calls_may_never_return),
        TEST(tail_calls_leave_with_an_empty_stack),
        TEST(a_start_that_is_not_firm_has_to_return),
        TEST(random_code_is_harmless),
        TEST(starts_at_each_byte_take_bounded_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What is copied of a stack, from where, and where it lies in the ring. */
#include "made_up_stack.h"

static void fill_registers(void)
{
    for (int i = 0; i < 17; i++)
        at.context.uc_mcontext.gregs[i] = 0x1000 + i;
}

/* DWARF calls them: rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, the return address. */
static void expect_interrupted_registers(const struct record_copy *copy)
{
    static const int order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    assert_int_equal(copy->known, 0x1ffff);
    for (int i = 0; i < 17; i++)
        assert_int_equal(copy->registers[i], at.context.uc_mcontext.gregs[order[i]]);
}

static bool is_address(uint64_t word, uint64_t start)
{
    bool is_code = word >= BASE && word < PAST_THE_END;
    return is_code || (word >= start && word < address_of(STACK_WORDS));
}

/* Leaf and root as they are, of the middle the addresses and nothing else. */
static void expect_stack(const struct found *found)
{
    const struct record_copy *copy = &found->copy;
    uint64_t start = copy->stack_start_avma, end = copy->stack_end_avma;
    assert_int_equal(start % 8, 0);
    assert_int_equal(end, address_of(STACK_WORDS));
    assert_memory_equal(found->leaf, (const void *)(uintptr_t)start, copy->leaf_bytes);
    assert_memory_equal(found->root, (const void *)(uintptr_t)(end - copy->root_bytes),
                        copy->root_bytes);
    const uint64_t *middle = (const uint64_t *)(uintptr_t)(start + copy->leaf_bytes);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < copy->middle_bytes / 8; i++) {
        if (!is_address(middle[i], start))
            continue;
        assert_true(taken < copy->word_count);
        assert_int_equal(record_word_number(found->words[taken]), i);
        assert_int_equal(record_word_address(found->words[taken]), middle[i]);
        taken++;
    }
    assert_int_equal(taken, copy->word_count);
}

static void what_no_row_describes_is_copied_from_the_leaf(void **state)
{
    (void)state;
    for (uint64_t i = STACK_WORDS - 1000; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    uint64_t word = make_stack(2, COMPLEX);
    fill_registers();
    interrupted_at(LEAF, address_of(word), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_COMPLEX);
    assert_int_equal(found.stack.frame_count, 0); /* the launcher does all of it again */
    expect_interrupted_registers(&found.copy);
    assert_int_equal(found.copy.stack_start_avma, address_of(word) - ARCH_RED_ZONE);
    assert_int_equal(found.copy.leaf_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    expect_stack(&found);
}

static void a_large_stack_is_copied_from_where_the_walk_stopped(void **state)
{
    (void)state;
    const uint32_t callers = 1000;
    uint64_t last = STACK_WORDS - 40000; /* more than is ever copied lies beyond it */
    uint64_t word = last - 2 * callers;
    for (uint32_t i = 0; i < callers; i++)
        at.stack[word + 2 * i] = CALLER + i % 64;
    at.stack[last] = COMPLEX;
    interrupted_at(LEAF, address_of(word), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.frame_count, 1 + callers); /* COMPLEX itself comes again */
    assert_int_equal(found.frames[0], LEAF);
    for (uint32_t i = 0; i < callers; i++)
        assert_int_equal(found.frames[1 + i], CALLER + i % 64);
    assert_int_equal(found.copy.known, 1u << 6 | 1u << 7 | 1u << 16);
    assert_int_equal(found.copy.registers[16], COMPLEX);
    assert_int_equal(found.copy.registers[7], address_of(last + 1));
    assert_int_equal(found.copy.registers[6], 77);
    assert_int_equal(found.copy.stack_start_avma, address_of(last + 1) - ARCH_RED_ZONE);
    expect_stack(&found);
}

/* More than the frames kept: both parts, and the rest of the stack. */
static void of_a_deep_stack_both_parts_and_the_rest_are_copied(void **state)
{
    (void)state;
    enum { CALLERS = 30000 };
    make_stack(CALLERS, COMPLEX);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.frame_count, FRAMES_MAX - 1);
    assert_int_equal(found.stack.dropped, 1 + CALLERS - (FRAMES_MAX - 1));
    assert_int_equal(found.frames[0], LEAF);
    for (uint32_t i = 1; i < FRAMES_MAX - 1; i++) {
        uint32_t place = i < FRAMES_LEAF ? i : i + found.stack.dropped;
        assert_int_equal(found.frames[i], CALLER + (CALLERS - place) % 64);
    }
    assert_int_equal(found.copy.registers[16], COMPLEX);
    expect_stack(&found);
}

/* From word `first` on, each is what somebody could return to; SP is there, and nothing can be walked. */
static void fill_with_code(uint64_t first)
{
    for (uint64_t i = first; i < STACK_WORDS; i++)
        at.stack[i] = CALLER;
    interrupted_at(COMPLEX, address_of(first), 77);
}

static void of_a_large_stack_addresses_are_copied(void **state)
{
    (void)state;
    uint64_t first = STACK_WORDS - 100000;
    for (uint64_t i = first; i < STACK_WORDS; i++)
        at.stack[i] = i % 20 == 0   ? CALLER + i % 0x100
                      : i % 20 == 7 ? address_of(first + i % 90000)
                      : i % 20 == 9 ? PAST_THE_END + i
                                    : i % 3;
    interrupted_at(COMPLEX, address_of(first), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.copy.leaf_bytes, LEAF_BYTES_MAX);
    assert_int_equal(found.copy.leaf_bytes + found.copy.middle_bytes, 100000 * 8 + ARCH_RED_ZONE);
    assert_int_equal(found.copy.root_bytes, 0);
    assert_in_range(found.copy.word_count, 9700, 10000);
    expect_stack(&found);
}

/* Else the widest gap were the one before it, and all of the heap between would count as code. */
static void the_page_of_vsyscall_is_no_code(void **state)
{
    (void)state;
    struct wire_module *modules = at.memory->maps[1].modules;
    modules[1] = (struct wire_module){.start_avma = UINT64_C(0x7ff000000000),
                                      .end_avma = UINT64_C(0x7ff000001000)};
    modules[2] = (struct wire_module){.start_avma = UINT64_C(0xffffffffff600000),
                                      .end_avma = UINT64_C(0xffffffffff601000)};
    at.memory->verdict.counts[1] = 3;
    uint64_t first = STACK_WORDS - 20000;
    for (uint64_t i = first; i < STACK_WORDS; i++)
        at.stack[i] = UINT64_C(0x550000000000) + i;
    at.stack[STACK_WORDS - 7] = UINT64_C(0x7ff000000123);
    at.stack[STACK_WORDS - 6] = UINT64_C(0xffffffffff600400);
    interrupted_at(COMPLEX, address_of(first), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.copy.word_count, 1);
    assert_int_equal(record_word_address(found.words[0]), UINT64_C(0x7ff000000123));
}

/* Of a map that does not have the code where the walk stopped, nobody knows what else it has not. */
static void where_code_is_unknown_whatever_may_be_an_address_is_copied(void **state)
{
    (void)state;
    uint64_t first = STACK_WORDS - 20000;
    for (uint64_t i = first; i < STACK_WORDS; i++)
        at.stack[i] = i % 10 == 0   ? UINT64_C(0x7f0000000000) + i
                      : i % 10 == 5 ? UINT64_MAX - i
                                    : i % 3;
    interrupted_at(PAST_THE_END, address_of(first), 77);
    for (uint64_t generation = 0; generation < 2; generation++) {
        at.memory->verdict.generation = generation; /* 0: no map at all */
        struct found found = walk_and_read();
        assert_in_range(found.copy.word_count, 1890, 1900);
        for (uint32_t i = 0; i < found.copy.word_count; i++)
            assert_int_equal(record_word_address(found.words[i]) >> 32, 0x7f00);
    }
}

/* A frame that is larger than any other: some of it is not copied, but what called it is. */
static void what_lies_beyond_the_middle_is_copied_as_it_is(void **state)
{
    (void)state;
    uint64_t first = 1000;
    for (uint64_t i = STACK_WORDS - 10000; i < STACK_WORDS; i++)
        at.stack[i] = i;
    interrupted_at(COMPLEX, address_of(first), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.copy.middle_bytes, RECORD_MIDDLE_BYTES_MAX);
    assert_int_equal(found.copy.word_count, 0);
    assert_int_equal(found.copy.root_bytes, RECORD_COPY_BYTES_MAX - LEAF_BYTES_MAX);
    expect_stack(&found);
}

/* What lies far from SP may not be there any more. */
static void of_a_contexts_stack_only_what_is_next_to_sp_is_copied(void **state)
{
    (void)state;
    at.thread.context_stacks[0] =
        (stack_t){.ss_sp = at.stack, .ss_size = (STACK_WORDS + 100 * PAGE / 8) * 8};
    at.thread.stack_start_avma = at.thread.stack_end_avma = 0;
    interrupted_at(COMPLEX, address_of(1000), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.copy.leaf_bytes, RECORD_COPY_BYTES_MAX);
    assert_int_equal(found.copy.middle_bytes, 0);
    assert_int_equal(found.copy.root_bytes, 0);
}

/* The less room there is, the less is copied, of each part. */
static void a_ring_that_fills_up_takes_smaller_copies(void **state)
{
    (void)state;
    fill_with_code(STACK_WORDS - 60000);
    const uint64_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t place = 0; /* in a ring that was empty */
    uint32_t copies = 0, before = UINT32_MAX;
    for (; walk_record(&at.thread, &at.context, 111, 222, 0); copies++) {
        const struct record_copy *copy = (const void *)(at.data + place + fixed);
        uint32_t bytes = copy->leaf_bytes + 8 * copy->word_count + copy->root_bytes;
        assert_true(bytes <= before);
        assert_true(copies < 2 ? copy->root_bytes == ROOT_BYTES_KEPT
                               : copy->root_bytes <= ROOT_BYTES_KEPT);
        assert_true(copies < 2 ? bytes == RECORD_COPY_BYTES_MAX
                               : bytes < RECORD_COPY_BYTES_MAX / 8);
        assert_true(copies < 2
                        ? copy->leaf_bytes == LEAF_BYTES_MAX
                        : copy->leaf_bytes + 8 >= bytes / 8 && copy->leaf_bytes <= bytes / 8);
        before = bytes;
        place = at.thread.ring.head - at.thread.ring.base;
    }
    /* 12 ms at 9999 Hz: the launcher may wait for a processor for two ticks of 4 ms. */
    assert_true(copies > 120);
}

static void a_check_carries_the_walk_and_what_to_compare_it_with(void **state)
{
    (void)state;
    at.tables->header.self_check_every = 10;
    at.thread.samples = 20;
    uint64_t word = make_stack(3, ROOT);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_CHECK);
    assert_int_equal(found.stack.frame_count, 5);
    assert_int_equal(found.frames[0], LEAF);
    assert_int_equal(found.frames[4], ROOT);
    expect_interrupted_registers(&found.copy);
    expect_stack(&found);
    assert_int_equal(found.copy.leaf_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    at.thread.samples = 21;
    assert_int_equal(walk_and_read().header.kind, RECORD_STACK);
}

/* So many bytes before the end of the ring, which is not empty: then it would begin again. */
static void leave_room(uint64_t back)
{
    at.thread.ring.base = 0;
    at.thread.ring.head = 5 * SESSION_RING_BYTES - back;
    at.control.tail = at.thread.ring.head - 8;
}

/* Records of all kinds where the ring's end forces them to its beginning. */
static void records_at_the_end_of_the_ring_are_whole(void **state)
{
    (void)state;
    static const uint64_t lasts[] = {ROOT, COMPLEX};
    for (uint64_t back = 8; back < 150000; back += 1000) {
        for (size_t i = 0; i < 2; i++) {
            uint64_t word = make_stack(100, lasts[i]);
            leave_room(back);
            struct found found = walk_and_read();
            if (i == 0)
                assert_int_equal(found.stack.frame_count, 102);
            else
                assert_int_equal(found.copy.registers[7], address_of(word));
        }
        /* The copy needs more room than the walk did: its frames move to the beginning. */
        uint64_t last = STACK_WORDS - 40000;
        at.stack[last] = COMPLEX;
        for (uint32_t j = 1; j <= 50; j++)
            at.stack[last - 2 * j] = CALLER + j;
        interrupted_at(LEAF, address_of(last - 100), 0);
        leave_room(back);
        struct found found = walk_and_read();
        assert_int_equal(found.stack.frame_count, 51);
        for (uint32_t j = 1; j <= 50; j++)
            assert_int_equal(found.frames[51 - j], CALLER + j);
        expect_stack(&found);
    }
}

/* Half a ring is free, but not in one piece. */
static void a_copy_for_which_the_rings_end_leaves_no_room_is_smaller(void **state)
{
    (void)state;
    fill_with_code(STACK_WORDS - 60000);
    leave_room(RECORD_COPY_BYTES_MAX);
    at.control.tail = at.thread.ring.head - SESSION_RING_BYTES / 2;
    struct found found = walk_and_read();
    assert_int_equal(found.copy.registers[7], address_of(STACK_WORDS - 60000));
    assert_int_equal(found.copy.leaf_bytes + 8 * found.copy.word_count + found.copy.root_bytes,
                     RECORD_COPY_BYTES_MAX / 2);
    expect_stack(&found);
}

/* Then the ring begins again at its first byte, before the frames that were walked. */
static void the_launcher_may_empty_the_ring_between_the_walk_and_the_copy(void **state)
{
    (void)state;
    const uint32_t callers = 50, fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t last = STACK_WORDS - 40000, position;
    at.stack[last] = COMPLEX;
    for (uint32_t i = 1; i <= callers; i++)
        at.stack[last - 2 * i] = CALLER + i;
    interrupted_at(LEAF, address_of(last - 2 * callers), 0);
    for (uint64_t head = 64; head < 1024; head += 64) {
        struct walk walk = {.thread = &at.thread,
                            .context = &at.context,
                            .ring = &at.thread.ring,
                            .leaf = arch_unwind_regs(&at.context),
                            .frames_max = FRAMES_MAX};
        at.thread.ring.base = 0;
        at.thread.ring.head = head;
        at.control.tail = head - 8;
        walk.frames =
            (void *)(ring_reserve(&at.thread.ring, fixed + 8 * FRAMES_MAX, &position) + fixed);
        assert_true(walk_once(&walk));
        assert_int_equal(walk.end, WALK_COMPLEX);
        at.control.tail = head;
        assert_true(stack_copy_record(&walk, (struct record_header){.kind = RECORD_COPY}));
        const uint64_t *frames = (const void *)(at.data + fixed + sizeof(struct record_copy));
        for (uint32_t i = 1; i <= callers; i++)
            assert_int_equal(frames[callers + 1 - i], CALLER + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_no_row_describes_is_copied_from_the_leaf),
        TEST(of_a_deep_stack_both_parts_and_the_rest_are_copied),
        TEST(a_large_stack_is_copied_from_where_the_walk_stopped),
        TEST(of_a_large_stack_addresses_are_copied),
        TEST(the_page_of_vsyscall_is_no_code),
        TEST(where_code_is_unknown_whatever_may_be_an_address_is_copied),
        TEST(what_lies_beyond_the_middle_is_copied_as_it_is),
        TEST(of_a_contexts_stack_only_what_is_next_to_sp_is_copied),
        TEST(a_ring_that_fills_up_takes_smaller_copies),
        TEST(a_check_carries_the_walk_and_what_to_compare_it_with),
        TEST(records_at_the_end_of_the_ring_are_whole),
        TEST(a_copy_for_which_the_rings_end_leaves_no_room_is_smaller),
        TEST(the_launcher_may_empty_the_ring_between_the_walk_and_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static void expect_stack_bytes(const struct found *found)
{
    uint64_t start = found->copy.stack_start_avma;
    assert_int_equal(start % 8, 0);
    assert_int_equal(found->copy.stack_end_avma, address_of(STACK_WORDS));
    uint32_t leaf_bytes = found->copy.stack_bytes - found->copy.root_bytes;
    assert_memory_equal(found->bytes, (const void *)(uintptr_t)start, leaf_bytes);
    assert_memory_equal(found->bytes + leaf_bytes,
                        (const void *)(uintptr_t)(address_of(STACK_WORDS) - found->copy.root_bytes),
                        found->copy.root_bytes);
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
    assert_int_equal(found.copy.stack_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    expect_stack_bytes(&found);
}

static void a_large_stack_is_copied_from_where_the_walk_stopped(void **state)
{
    (void)state;
    const uint32_t callers = 1000;
    uint64_t last = STACK_WORDS - 20000; /* more than is ever copied lies beyond it */
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
    assert_int_equal(found.copy.stack_bytes, RECORD_COPY_BYTES_MAX);
    assert_int_equal(found.copy.root_bytes, RECORD_COPY_ROOT_BYTES);
    assert_int_equal(found.copy.stack_start_avma, address_of(last + 1) - ARCH_RED_ZONE);
    expect_stack_bytes(&found);
}

/* The less room there is, the less is copied; what is copied of a stack has no hole then. */
static void a_ring_that_fills_up_takes_smaller_copies(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    interrupted_at(COMPLEX, address_of(100), 77);
    const uint64_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t place = 0; /* in a ring that was empty */
    uint32_t copies = 0, before = UINT32_MAX;
    for (; walk_record(&at.thread, &at.context, 111, 222, 0); copies++) {
        const struct record_copy *copy = (const void *)(at.data + place + fixed);
        assert_true(copy->stack_bytes <= before);
        assert_int_equal(copy->root_bytes, copies < 2 ? RECORD_COPY_ROOT_BYTES : 0);
        assert_true(copies < 2 || copy->stack_bytes < RECORD_COPY_LEAF_BYTES);
        before = copy->stack_bytes;
        place = at.control.head - at.control.base;
    }
    assert_true(copies > 20);
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
    expect_stack_bytes(&found);
    assert_int_equal(found.copy.stack_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    at.thread.samples = 21;
    assert_int_equal(walk_and_read().header.kind, RECORD_STACK);
}

/* So many bytes before the end of the ring, which is not empty: then it would begin again. */
static void leave_room(uint64_t back)
{
    at.control.base = 0;
    at.control.head = 5 * SESSION_RING_BYTES - back;
    at.control.tail = at.control.head - 8;
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
        uint64_t last = STACK_WORDS - 20000;
        at.stack[last] = COMPLEX;
        for (uint32_t j = 1; j <= 50; j++)
            at.stack[last - 2 * j] = CALLER + j;
        interrupted_at(LEAF, address_of(last - 100), 0);
        leave_room(back);
        struct found found = walk_and_read();
        assert_int_equal(found.stack.frame_count, 51);
        for (uint32_t j = 1; j <= 50; j++)
            assert_int_equal(found.frames[51 - j], CALLER + j);
        expect_stack_bytes(&found);
    }
}

/* Half a ring is free, but not in one piece. */
static void a_copy_for_which_the_rings_end_leaves_no_room_is_smaller(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    interrupted_at(COMPLEX, address_of(100), 77);
    leave_room(RECORD_COPY_BYTES_MAX);
    at.control.tail = at.control.head - SESSION_RING_BYTES / 2;
    struct found found = walk_and_read();
    assert_int_equal(found.copy.registers[7], address_of(100));
    assert_int_equal(found.copy.stack_bytes, RECORD_COPY_BYTES_MAX / 2);
    assert_int_equal(found.copy.root_bytes, 0);
    expect_stack_bytes(&found);
}

/* Then the ring begins again at its first byte, before the frames that were walked. */
static void the_launcher_may_empty_the_ring_between_the_walk_and_the_copy(void **state)
{
    (void)state;
    const uint32_t callers = 50, fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t last = STACK_WORDS - 20000, position;
    at.stack[last] = COMPLEX;
    for (uint32_t i = 1; i <= callers; i++)
        at.stack[last - 2 * i] = CALLER + i;
    interrupted_at(LEAF, address_of(last - 2 * callers), 0);
    for (uint64_t head = 64; head < 1024; head += 64) {
        struct walk walk = {.thread = &at.thread, .context = &at.context};
        at.control = (struct ring_control){.head = head, .tail = head - 8};
        walk.frames =
            (void *)(ring_reserve(&at.thread.ring, fixed + 8 * RECORD_FRAMES_MAX, &position) +
                     fixed);
        assert_int_equal(walk_once(&walk, 0), WALK_COMPLEX);
        at.control.tail = head;
        assert_true(copy_record(&walk, (struct record_header){.kind = RECORD_COPY}, 0, 0));
        const uint64_t *frames = (const void *)(at.data + fixed + sizeof(struct record_copy));
        for (uint32_t i = 1; i <= callers; i++)
            assert_int_equal(frames[callers + 1 - i], CALLER + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_no_row_describes_is_copied_from_the_leaf),
        TEST(a_large_stack_is_copied_from_where_the_walk_stopped),
        TEST(a_ring_that_fills_up_takes_smaller_copies),
        TEST(a_check_carries_the_walk_and_what_to_compare_it_with),
        TEST(records_at_the_end_of_the_ring_are_whole),
        TEST(a_copy_for_which_the_rings_end_leaves_no_room_is_smaller),
        TEST(the_launcher_may_empty_the_ring_between_the_walk_and_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

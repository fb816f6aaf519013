/* SPDX-License-Identifier: MIT */
/* Memories of ended processes: how long they stay mapped, and what else stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "own_memory.h"

#include <errno.h>

#define NOW_NS UINT64_C(1000000000)
enum { COUNT = ENDED_MEMORIES_MAX + 4 };

static struct target_memory *memories[COUNT];
static void *mapped[COUNT];
static struct ended_memories ended;

static bool is_mapped(void *address)
{
    return msync(address, 4096, MS_ASYNC) == 0;
}

static size_t count_mapped(void)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++)
        count += is_mapped(mapped[i]);
    return count;
}

static int set_up(void **state)
{
    (void)state;
    ended = (struct ended_memories){0};
    for (size_t i = 0; i < COUNT; i++) {
        struct own_memory memory = own_memory_make();
        assert_int_equal(target_memory_map(&memories[i], memory.fd), 0);
        mapped[i] = memories[i]->shared;
        own_memory_free(&memory);
    }
    assert_int_equal(count_mapped(), COUNT);
    return 0;
}

static void release(size_t i, uint64_t now_ns)
{
    target_memory_release_later(memories[i], &ended, now_ns);
}

/* The first and the last one, and one between two that are in use. */
static void they_wait_for_a_limited_time(void **state)
{
    (void)state;
    static const size_t of_ended[] = {COUNT - 1, 7, 0};
    for (size_t i = 0; i < 3; i++)
        release(of_ended[i], NOW_NS + i);
    ended_memories_unmap_old(&ended, NOW_NS + ENDED_MEMORIES_NS - 1);
    assert_int_equal(count_mapped(), COUNT);
    ended_memories_unmap_old(&ended, NOW_NS + ENDED_MEMORIES_NS);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(is_mapped(mapped[i]), i != 0 && i != 7 && i != COUNT - 1);
    for (size_t i = 0; i < COUNT; i++)
        if (i != 0 && i != 7 && i != COUNT - 1)
            release(i, NOW_NS);
    ended_memories_unmap(&ended);
    assert_int_equal(count_mapped(), 0);
}

static void their_number_is_limited(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        release(i, NOW_NS);
        assert_true(i + 1 - (COUNT - count_mapped()) <= ENDED_MEMORIES_MAX);
    }
    assert_int_equal(count_mapped(), COUNT - ENDED_MEMORIES_MAX);
    ended_memories_unmap(&ended);
    assert_int_equal(count_mapped(), 0);
}

/* Records take up to 512 KiB in each ring. */
static void a_memory_with_rings_in_use_does_not_wait(void **state)
{
    (void)state;
    assert_non_null(target_memory_ring(memories[3], 0));
    release(3, NOW_NS);
    assert_false(is_mapped(mapped[3]));
    for (size_t i = 0; i < COUNT; i++)
        if (i != 3)
            release(i, NOW_NS);
    ended_memories_unmap(&ended);
}

/* A map under way uses the memory of a process that has ended. */
static void the_last_user_gives_the_memory_up(void **state)
{
    (void)state;
    target_memory_use(memories[5]);
    for (size_t i = 0; i < COUNT; i++)
        release(i, NOW_NS);
    ended_memories_unmap(&ended);
    assert_int_equal(count_mapped(), 1);
    assert_true(is_mapped(mapped[5]));
    target_memory_release(memories[5]);
    assert_int_equal(count_mapped(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(they_wait_for_a_limited_time, set_up),
        cmocka_unit_test_setup(their_number_is_limited, set_up),
        cmocka_unit_test_setup(a_memory_with_rings_in_use_does_not_wait, set_up),
        cmocka_unit_test_setup(the_last_user_gives_the_memory_up, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Pages without memory get memory by a read from outside, and a copy that ends twice at one place ends there. */
#include "record/procfs/stack_pages.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 4 };

static size_t resident(uint8_t *start, size_t bytes, size_t page_bytes)
{
    unsigned char pages[PAGES];
    size_t count = 0;
    assert_int_equal(mincore(start, bytes, pages), 0);
    for (size_t i = 0; i < bytes / page_bytes; i++)
        count += pages[i] & 1;
    return count;
}

static void an_absent_page_and_those_behind_get_memory(void **state)
{
    (void)state;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page_bytes;
    const struct timespec wait = {.tv_nsec = 1000000};
    struct stack_pages pages = {0};
    uint8_t *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    assert_int_equal(resident(stack, bytes, page_bytes), 0);
    assert_true(
        stack_pages_request(&pages, getpid(), (uint64_t)stack + page_bytes, monotonic_ns()));
    for (int i = 0; i < 10000 && resident(stack, bytes, page_bytes) < PAGES - 1; i++)
        nanosleep(&wait, NULL);
    assert_int_equal(resident(stack, bytes, page_bytes), PAGES - 1);
    assert_int_equal(resident(stack, page_bytes, page_bytes), 0);
    assert_int_equal(stack[page_bytes], 0);
    stack_pages_close(&pages);
    munmap(stack, bytes);
}

static void a_copy_that_ends_there_again_ends_with_the_stack(void **state)
{
    (void)state;
    struct stack_pages pages = {0};
    uint64_t now_ns = monotonic_ns(), second_ns = 1000000000;
    assert_true(stack_pages_request(&pages, getpid(), 0x7000, now_ns));
    assert_true(stack_pages_request(&pages, getpid(), 0x7000, now_ns));
    assert_false(stack_pages_request(&pages, getpid(), 0x7000, now_ns + second_ns));
    assert_true(stack_pages_request(&pages, getpid(), 0x8000, now_ns + second_ns));
    stack_pages_close(&pages);
    stack_pages_close(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_page_and_those_behind_get_memory),
        cmocka_unit_test(a_copy_that_ends_there_again_ends_with_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "base/containers/table.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = (4 << 20) + 123 };

/* How many whole pages of these bytes are in memory. */
static size_t pages_in_memory(const char *bytes, size_t size)
{
    static unsigned char in_memory[BYTES / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)bytes % page, count = 0;
    size_t pages = (size - before) / page;
    assert_int_equal(mincore((char *)(uintptr_t)bytes + before, pages * page, in_memory), 0);
    for (size_t i = 0; i < pages; i++)
        count += in_memory[i] & 1;
    return count;
}

/* calloc() would write zeros over it. */
static void sparse_memory_that_was_used_before_is_zeros_and_takes_none(void **state)
{
    (void)state;
    mallopt(M_MMAP_THRESHOLD, 2 * BYTES);
    char *used = malloc(BYTES), *behind = malloc(1);
    assert_non_null(behind);
    memset(used, 0xff, BYTES);
    __asm__ volatile("" : : "r"(used) : "memory");
    free(used);
    char *sparse = table_sparse(BYTES);
    assert_non_null(sparse);
    assert_in_range(pages_in_memory(sparse, BYTES), 0, 1);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(sparse[i], 0);
    memset(sparse, 1, BYTES);
    free(sparse);
    free(behind);
}

static void small_sparse_memory_is_zeros(void **state)
{
    (void)state;
    for (size_t size = 0; size < 9000; size += 97) {
        char *used = malloc(size + 1);
        assert_non_null(used);
        memset(used, 0xff, size + 1);
        __asm__ volatile("" : : "r"(used) : "memory");
        free(used);
        char *sparse = table_sparse(size);
        assert_non_null(sparse);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(sparse[i], 0);
        free(sparse);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_memory_that_was_used_before_is_zeros_and_takes_none),
        cmocka_unit_test(small_sparse_memory_is_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

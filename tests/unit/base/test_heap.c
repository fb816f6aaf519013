/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { BYTES = 1 << 20, PAGE_BYTES = 4096, LARGE_PAGE_BYTES = 2 << 20 };

static long first_faults; /* that touching so much took, before anything else was allocated */

static long fault_count(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static long faults_of_touching(void)
{
    long before = fault_count();
    void *bytes[16]; /* each below what malloc() maps */
    for (size_t i = 0; i < 16; i++) {
        bytes[i] = malloc(BYTES / 16);
        memset(bytes[i], 1, BYTES / 16);
        __asm__ volatile("" : : "r"(bytes[i]) : "memory");
    }
    for (size_t i = 0; i < 16; i++)
        free(bytes[i]);
    return fault_count() - before;
}

/* Which it may have, and none to give. */
static bool has_large_pages(void)
{
    char *bytes = mmap(NULL, 2 * LARGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    char *page = bytes + -(uintptr_t)bytes % LARGE_PAGE_BYTES;
    (void)madvise(page, LARGE_PAGE_BYTES, MADV_HUGEPAGE);
    long before = fault_count();
    memset(page, 1, BYTES);
    long faults = fault_count() - before;
    munmap(bytes, 2 * LARGE_PAGE_BYTES);
    return faults < BYTES / PAGE_BYTES / 8;
}

/* Wherever the kernel lets the heap begin: it would fail in most runs if the heap were not aligned. */
static void the_first_megabyte_costs_few_faults(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    return; /* the heap is the sanitizer's */
#endif
    if (!has_large_pages())
        skip();
    assert_true(first_faults < BYTES / PAGE_BYTES / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_megabyte_costs_few_faults),
    };
    heap_prefer_large_pages();
    first_faults = faults_of_touching();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

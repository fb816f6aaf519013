/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { BYTES = 1 << 20, PAGE_BYTES = 4096 };

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

static bool has_large_pages(void)
{
    char text[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    bool is_read = file && fgets(text, sizeof(text), file);
    if (file)
        fclose(file);
    return is_read && !strstr(text, "[never]");
}

/* Wherever the kernel lets the heap begin: it would fail in most runs if the heap were not aligned. */
static void the_first_megabyte_costs_few_faults(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
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

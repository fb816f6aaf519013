/* SPDX-License-Identifier: MIT */
/* Functions of the running kernel, against /proc/kallsyms. Skipped where the kernel refuses either. */
#include "record/procfs/kernel/kernel_lookup.h"
#include "record/procfs/kernel/kernel_symbols.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Every STEPth line of so many. */
enum { LINES_MAX = 40000, STEP = 97 };

struct line {
    uint64_t avma;
    char kind, name[512];
};

static struct kernel_lookup open_lookup(void)
{
    struct kernel_lookup lookup;
    kernel_lookup_open(&lookup);
    if (!lookup.page)
        skip();
    return lookup;
}

static bool read_line(FILE *file, struct line *line)
{
    return fscanf(file, "%" SCNx64 " %c %511s%*[^\n]", &line->avma, &line->kind, line->name) == 3;
}

static uint64_t find(const struct kernel_lookup *lookup, const char *name, uint64_t bytes)
{
    const struct kernel_function function = {name, strlen(name), bytes, false};
    return kernel_lookup_find(lookup, &function);
}

/* Of several functions with a name and a size, both find the first. */
static void functions_have_the_addresses_of_the_text(void **state)
{
    (void)state;
    struct kernel_lookup lookup = open_lookup();
    struct line line = {0}, next;
    FILE *file = fopen("/proc/kallsyms", "re");
    unsigned looked_up = 0, found = 0;
    assert_non_null(file);
    for (unsigned i = 0; i < LINES_MAX && read_line(file, &next); line = next, i++) {
        bool is_function = line.kind == 't' || line.kind == 'T';
        if (!is_function || next.avma <= line.avma || i % STEP)
            continue;
        uint64_t avma = find(&lookup, line.name, next.avma - line.avma);
        looked_up++;
        found += avma == line.avma;
        assert_true(avma <= line.avma);
    }
    fclose(file);
    assert_true(looked_up > 10);
    assert_true(found * 10 > looked_up * 9);
    kernel_lookup_close(&lookup);
}

static void other_sizes_modules_and_names_are_not_found(void **state)
{
    (void)state;
    struct kernel_lookup lookup = open_lookup();
    char long_name[4096];
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    struct kernel_function function = {"do_exit", 7, 1, false};
    assert_int_equal(kernel_lookup_find(&lookup, &function), 0);
    assert_int_equal(find(&lookup, "no_function_of_the_kernel", 16), 0);
    assert_int_equal(find(&lookup, "", 16), 0);
    assert_int_equal(find(&lookup, long_name, 16), 0);
    kernel_lookup_close(&lookup);
}

static void a_closed_lookup_finds_nothing(void **state)
{
    (void)state;
    struct kernel_lookup lookup = {.page = NULL};
    assert_int_equal(find(&lookup, "do_exit", 16), 0);
    kernel_lookup_close(&lookup);
}

/* The text is not read for a function that the lookup has found. */
static void symbols_of_the_running_kernel_need_no_text(void **state)
{
    (void)state;
    struct kernel_lookup lookup = open_lookup();
    kernel_lookup_close(&lookup);
    struct kernel_symbols symbols;
    struct line line, next = {0};
    FILE *file = fopen("/proc/kallsyms", "re");
    assert_non_null(file);
    do {
        line = next;
        assert_true(read_line(file, &next));
    } while (strcmp(line.name, "do_exit") != 0);
    fclose(file);
    const struct kernel_function function = {"do_exit", 7, next.avma - line.avma, false};
    kernel_symbols_open_running(&symbols);
    assert_int_equal(kernel_symbols_find(&symbols, &function), line.avma);
    assert_int_equal(symbols.text.size, 0);
    assert_string_equal(kernel_ranges_find(&symbols.found, line.avma + 1)->name, "do_exit");
    kernel_symbols_close(&symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_the_addresses_of_the_text),
        cmocka_unit_test(other_sizes_modules_and_names_are_not_found),
        cmocka_unit_test(a_closed_lookup_finds_nothing),
        cmocka_unit_test(symbols_of_the_running_kernel_need_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

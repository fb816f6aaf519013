/* SPDX-License-Identifier: MIT */
/* Kernel stacks as texts of /proc, with addresses from a made /proc/kallsyms. */
#include "record/procfs/blocked/kernel_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const char symbols_text[] = "ffffffff81000000 T _text\n"
                                   "ffffffff81000000 T _stext\n"
                                   "ffffffff81001000 t wait_here\n"
                                   "ffffffff81001000 t wait_alias\n"
                                   "ffffffff81001040 t wait_here\n"
                                   "ffffffff81001100 T __x64_sys_wait\n"
                                   "ffffffff81001180 T do_syscall_64\n"
                                   "ffffffff81001200 D data\n"
                                   "ffffffffc0001000 t wait_here\t[module]\n"
                                   "ffffffffc0000000 t other\t[module]\n";

static int memory_file(const char *text)
{
    int fd = memfd_create("kallsyms", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void open_stacks(struct kernel_stacks *stacks, const char *text)
{
    struct kernel_symbols symbols;
    kernel_symbols_open(&symbols, memory_file(text));
    kernel_stacks_open(stacks, &symbols);
}

static size_t parse(const char *text, uint64_t *frames)
{
    struct kernel_stacks stacks;
    open_stacks(&stacks, symbols_text);
    size_t count = kernel_stacks_parse(&stacks, text, frames);
    uint64_t again[KERNEL_STACK_FRAMES_MAX];
    assert_int_equal(kernel_stacks_parse(&stacks, text, again), count);
    assert_memory_equal(frames, again, count * sizeof(*frames));
    kernel_stacks_close(&stacks);
    return count;
}

static void frames_are_addresses_without_the_entry(void **state)
{
    (void)state;
    uint64_t frames[KERNEL_STACK_FRAMES_MAX];
    assert_int_equal(parse("[<0>] wait_here+0x3f/0x40\n"
                           "[<0>] __x64_sys_wait+0x80/0x80\n"
                           "[<0>] do_syscall_64+0x71/0x80\n"
                           "[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e\n",
                           frames),
                     2);
    assert_int_equal(frames[0], 0xffffffff8100103f);
    assert_int_equal(frames[1], 0xffffffff81001180); /* a call at the end of a function */
}

static void functions_of_one_name_differ_in_size_or_module(void **state)
{
    (void)state;
    uint64_t frames[KERNEL_STACK_FRAMES_MAX];
    assert_int_equal(parse("[<0>] wait_here+0x1/0x40\n[<0>] wait_here+0x2/0xc0\n"
                           "[<0>] wait_alias+0x3/0x40\n[<0>] wait_here+0x4/0x20 [module]\n",
                           frames),
                     4);
    assert_int_equal(frames[0], 0xffffffff81001001);
    assert_int_equal(frames[1], 0xffffffff81001042);
    assert_int_equal(frames[2], 0xffffffff81001003);
    assert_int_equal(frames[3], 0xffffffffc0001004);
}

static void unknown_frames_are_left_out(void **state)
{
    (void)state;
    uint64_t frames[KERNEL_STACK_FRAMES_MAX];
    assert_int_equal(parse("[<0>] not_there+0x1/0x40\n[<0>] wait_here+0x1/0x44\n"
                           "[<0>] wait_here+0x41/0x40\n[<0>] other+0x1/0x20\n"
                           "[<0>] wait_here\n[<0>] wait_here+\n[<0>] wait_here+0x1\n"
                           "[<0>] __x64_sys_wait+0x1/0x80\n",
                           frames),
                     1);
    assert_int_equal(frames[0], 0xffffffff81001101);
    assert_int_equal(parse("", frames), 0);
    assert_int_equal(parse("no stack\n", frames), 0);
    assert_int_equal(parse("[<0>] ", frames), 0);
}

static void a_symbol_table_without_lines_gives_no_frames(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n\n", "ffffffff81001000 t wait_here",
                                        "x\nwait_here\n", "ffffffff81001000 t wait_here\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint64_t frames[KERNEL_STACK_FRAMES_MAX];
        struct kernel_stacks stacks;
        open_stacks(&stacks, texts[i]);
        assert_int_equal(kernel_stacks_parse(&stacks, "[<0>] wait_here+0x1/0x40\n", frames), 0);
        kernel_stacks_close(&stacks);
    }
}

/* Of a stack with more frames than the buffer has. */
static void deep_stacks_keep_the_innermost_frames(void **state)
{
    (void)state;
    char text[8192] = "";
    uint64_t frames[KERNEL_STACK_FRAMES_MAX];
    for (size_t i = 0; i < 100; i++)
        strcat(text, "[<0>] wait_here+0x2/0xc0\n");
    assert_int_equal(parse(text, frames), KERNEL_STACK_FRAMES_MAX);
}

/* Pieces of 64 KiB end inside of lines; the text is not read further than needed. */
static void the_symbols_are_read_as_far_as_needed(void **state)
{
    (void)state;
    enum { FUNCTIONS = 20000 };
    struct kernel_symbols symbols;
    FILE *file = tmpfile();
    assert_non_null(file);
    for (unsigned i = 0; i <= FUNCTIONS; i++)
        fprintf(file, "%016llx t function_%u\n", 0xffffffff81000000ull + 16 * i, i);
    fflush(file);
    int fd = dup(fileno(file));
    lseek(fd, 0, SEEK_SET);
    kernel_symbols_open(&symbols, fd);
    for (unsigned i = 0; i < FUNCTIONS; i += 997) {
        char name[32];
        snprintf(name, sizeof(name), "function_%u", i);
        const struct kernel_function function = {name, strlen(name), 16, false};
        assert_int_equal(kernel_symbols_find(&symbols, &function), 0xffffffff81000000 + 16 * i);
        assert_true(symbols.text.size <= 40 * (size_t)i + (128 << 10));
    }
    kernel_symbols_close(&symbols);
    fclose(file);
}

static const char *name_at(const struct kernel_stacks *stacks, uint64_t avma)
{
    const struct kernel_range *range = kernel_ranges_find(&stacks->symbols.found, avma);
    return range ? range->name : "";
}

static void found_functions_have_names_for_all_of_their_addresses(void **state)
{
    (void)state;
    struct kernel_stacks stacks;
    uint64_t frames[KERNEL_STACK_FRAMES_MAX];
    open_stacks(&stacks, symbols_text);
    kernel_stacks_parse(&stacks,
                        "[<0>] wait_alias+0x3/0x40\n[<0>] wait_here+0x1/0x40\n"
                        "[<0>] __x64_sys_wait+0x7/0x80\n[<0>] wait_here+0x4/0x20 [module]\n",
                        frames);
    assert_int_equal(stacks.symbols.found.count, 3);
    assert_string_equal(name_at(&stacks, 0xffffffff81001000), "wait_alias");
    assert_string_equal(name_at(&stacks, 0xffffffff8100103f), "wait_alias");
    assert_string_equal(name_at(&stacks, 0xffffffff81001040), "");
    assert_string_equal(name_at(&stacks, 0xffffffff8100117f), "__x64_sys_wait");
    assert_string_equal(name_at(&stacks, 0xffffffffc000101f), "wait_here");
    assert_string_equal(name_at(&stacks, 0xffffffffc0001020), "");
    kernel_stacks_close(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_addresses_without_the_entry),
        cmocka_unit_test(functions_of_one_name_differ_in_size_or_module),
        cmocka_unit_test(unknown_frames_are_left_out),
        cmocka_unit_test(a_symbol_table_without_lines_gives_no_frames),
        cmocka_unit_test(deep_stacks_keep_the_innermost_frames),
        cmocka_unit_test(found_functions_have_names_for_all_of_their_addresses),
        cmocka_unit_test(the_symbols_are_read_as_far_as_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

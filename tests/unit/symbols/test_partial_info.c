/* SPDX-License-Identifier: MIT */
/* Compressed debug info of which only wanted units are kept: answers are those of the whole. */
#include "elf/decompress.h"
#include "elf/elf_stream.h"
#include "symbols/files/partial_info.h"
#include "symbols/files/partial_units.h"
#include "toolbox.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

enum { UNITS = 8 };

/* "units": eight of C with a function each, and main(). */
static int build_units(void **state)
{
    elf_stream_prepare();
    if (make_directory(state) != 0)
        return -1;
    return run("for i in 1 2 3 4 5 6 7 8; do echo "
               "\"static inline int in$i(int x) { return x * $i; } int f$i(int x) { return in$i(x) "
               "+ 1; }\" > u$i.c; done; echo 'int main(void) { return 0; }' > main.c; "
               "gcc -g -O1 -gz=zlib u?.c main.c -o units");
}

static struct symbols *open_for(const char *name, const uint64_t *needed, size_t count)
{
    struct symbols *symbols;
    struct error error = {{0}};
    struct symbols_config config = {
        .debug_directory = "/nonexistent", .needed = needed, .needed_count = count};
    if (symbols_open(&symbols, in_directory(name), NULL, 0, &config, &error) != 0)
        fail_msg("%s", error.text);
    return symbols;
}

static void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

/* Returns how many frames there are. */
static size_t compare_answers(struct symbols *some, struct symbols *all, uint64_t svma)
{
    struct symbol_result found, expected;
    assert_int_equal(symbols_resolve(some, svma, &found), 0);
    assert_int_equal(symbols_resolve(all, svma, &expected), 0);
    assert_int_equal(found.frame_count, expected.frame_count);
    assert_same_text(found.symbol_name, expected.symbol_name);
    for (size_t i = 0; i < found.frame_count; i++) {
        assert_same_text(found.frames[i].name, expected.frames[i].name);
        assert_same_text(found.frames[i].file, expected.frames[i].file);
        assert_int_equal(found.frames[i].line, expected.frames[i].line);
        assert_same_text(found.frames[i].definition_file, expected.frames[i].definition_file);
    }
    return found.frame_count;
}

static void hold_against_whole(const char *name, const uint64_t *needed, size_t count)
{
    struct symbols *some = open_for(name, needed, count), *all = open_for(name, NULL, 0);
    for (size_t i = 0; i < count; i++)
        (void)compare_answers(some, all, needed[i]);
    assert_same_text(symbols_source(some), symbols_source(all));
    symbols_close(some);
    symbols_close(all);
}

static void read_section(const struct elf_file *elf, const char *name, struct buffer *out)
{
    const struct elf_section *section = elf_find_section(elf, name);
    if (section)
        assert_int_equal(elf_read_section(elf, section, out, NULL), 0);
}

static int per_cent_kept(const struct buffer *some, const struct buffer *whole)
{
    int same = 0, all = 0;
    assert_int_equal(some->size, whole->size);
    for (size_t i = 0; i < whole->size; i++) {
        same += some->bytes[i] != 0 && some->bytes[i] == whole->bytes[i];
        all += whole->bytes[i] != 0;
    }
    return 100 * same / all;
}

/* How much of .debug_info an excerpt keeps, in per cent, or an error; of its abbreviations the same. */
static int excerpts_of(const char *name, const uint64_t *needed, size_t count, int *of_tables)
{
    struct buffer aranges = {0}, abbreviations = {0}, whole = {0}, out = {0}, tables = {0};
    struct elf_file *elf;
    int fd = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    read_section(elf, ".debug_aranges", &aranges);
    read_section(elf, ".debug_abbrev", &abbreviations);
    read_section(elf, ".debug_info", &whole);
    struct partial_info partial = {.needed = needed,
                                   .needed_count = count,
                                   .aranges = cursor_of(aranges.bytes, aranges.size),
                                   .abbreviations =
                                       cursor_of(abbreviations.bytes, abbreviations.size)};
    int result =
        partial_info_read(&partial, elf, elf_find_section(elf, ".debug_info"), &out, &tables);
    if (result == 0) {
        result = per_cent_kept(&out, &whole);
        *of_tables = per_cent_kept(&tables, &abbreviations);
    }
    buffer_free(&aranges);
    buffer_free(&abbreviations);
    buffer_free(&whole);
    buffer_free(&out);
    buffer_free(&tables);
    elf_close(elf);
    close(fd);
    return result;
}

static int excerpt_of(const char *name, const uint64_t *needed, size_t count)
{
    int of_tables;
    return excerpts_of(name, needed, count, &of_tables);
}

/* Of the function there. */
static uint64_t bytes_of(const char *name, uint64_t svma)
{
    struct symbols *symbols = open_for(name, NULL, 0);
    struct symbol_result result;
    assert_int_equal(symbols_resolve(symbols, svma, &result), 0);
    assert_true(result.symbol_bytes > 0);
    symbols_close(symbols);
    return result.symbol_bytes;
}

static void skip_without_isal(void)
{
    if (strstr(decompress_missing(), "isal"))
        skip();
}

static void one_address_needs_one_unit(void **state)
{
    (void)state;
    for (int i = 1; i <= UNITS; i++) {
        char function[] = {'f', (char)('0' + i), '\0'};
        uint64_t svma = address_of("units", function);
        uint64_t last_byte = svma + bytes_of("units", svma) - 1;
        hold_against_whole("units", &svma, 1);
        hold_against_whole("units", &last_byte, 1);
    }
    skip_without_isal();
    uint64_t svma = address_of("units", "f3");
    int of_tables = 0;
    assert_in_range(excerpts_of("units", &svma, 1, &of_tables), 1, 30);
    assert_in_range(of_tables, 1, 30);
}

/* What the compiler's own start files hold is in no unit: units that .debug_aranges leaves out might be it. */
static void addresses_outside_of_units_are_so_in_an_excerpt(void **state)
{
    (void)state;
    uint64_t needed[] = {address_of("units", "_start"), address_of("units", "f5")};
    hold_against_whole("units", needed, 2);
}

static void without_aranges_all_is_kept(void **state)
{
    (void)state;
    assert_int_equal(run("objcopy --remove-section .debug_aranges units bare"), 0);
    uint64_t svma = address_of("bare", "f4");
    hold_against_whole("bare", &svma, 1);
    skip_without_isal();
    int of_tables = 0;
    assert_int_equal(excerpts_of("bare", &svma, 1, &of_tables), 100);
    assert_int_equal(of_tables, 100);
}

static void units_that_refer_to_others_are_read_whole(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -g -gz=zlib -O2 -fdebug-types-section -gdwarf-5 $S/sym_cxx.cc -o "
                         "types"),
                     0);
    uint64_t svma = address_of("types", "main");
    hold_against_whole("types", &svma, 1);
    assert_int_equal(excerpt_of("types", &svma, 1), -ENOTSUP);
    assert_int_equal(run("gcc -g -O1 -gz=zlib -flto u1.c u2.c main.c -o merged"), 0);
    svma = address_of("merged", "main");
    hold_against_whole("merged", &svma, 1);
}

/* Too few for the unit that would be put in their place. */
static void bytes_behind_the_last_unit_are_kept(void **state)
{
    (void)state;
    assert_int_equal(run("cp units longer && objcopy --decompress-debug-sections longer && "
                         "objcopy --dump-section .debug_info=info longer && echo four >> info && "
                         "objcopy --update-section .debug_info=info longer && "
                         "objcopy --compress-debug-sections=zlib longer"),
                     0);
    uint64_t svma = address_of("longer", "main");
    skip_without_isal();
    assert_int_equal(excerpt_of("longer", &svma, 1), -ENOTSUP);
}

/* Ends, without a crash; the sanitizers see to that. */
static void damaged_files_are_survived(void **state)
{
    (void)state;
    uint64_t svma = address_of("units", "f3");
    char *damage = output_of("cd %s && for i in `seq 30`; do cp units damaged$i; done; "
                             "stat -c %%s units",
                             test_directory);
    long size = strtol(damage, NULL, 10);
    free(damage);
    srandom(1);
    for (int i = 1; i <= 30; i++) {
        char name[16];
        snprintf(name, sizeof(name), "damaged%d", i);
        int fd = open(in_directory(name), O_WRONLY | O_CLOEXEC);
        for (int n = 0; n < 30; n++) { /* headers at both ends are left alone */
            unsigned char byte = (unsigned char)random();
            assert_int_equal(pwrite(fd, &byte, 1, size / 3 + random() % (size / 3)), 1);
        }
        close(fd);
        struct symbols *symbols = open_for(name, &svma, 1);
        struct symbol_result result;
        assert_int_equal(symbols_resolve(symbols, svma, &result), 0);
        symbols_close(symbols);
    }
}

static void ranges_of_everything_cost_as_little_as_others(void **state)
{
    (void)state;
    enum { RANGES = 200000, WANTED = 20000 };
    struct buffer aranges = {0};
    uint64_t needed[WANTED];
    for (uint64_t i = 0; i < WANTED; i++)
        needed[i] = 0x1000 + i;
    buffer_u32(&aranges, 28 + 16 * RANGES);
    buffer_u16(&aranges, 2);
    buffer_u32(&aranges, 0x77);
    buffer_u16(&aranges, 8); /* and no segments */
    buffer_u32(&aranges, 0);
    for (uint64_t i = 0; i < RANGES; i++) {
        buffer_u64(&aranges, 0x1000);
        buffer_u64(&aranges, WANTED - 1 + (i == 0));
    }
    buffer_zeros(&aranges, 16);
    struct partial_units units = {0};
    clock_t start = clock();
    assert_int_equal(
        partial_units_read(&units, cursor_of(aranges.bytes, aranges.size), needed, WANTED), 0);
    assert_true(clock() - start < CLOCKS_PER_SEC);
    assert_true(units.is_complete);
    assert_true(partial_units_need(&units, 0x77));
    partial_units_free(&units);
    buffer_free(&aranges);
}

/* By hand: a thousand units, each with code of its own, that share one table of 100 000 abbreviations. */
static void a_table_of_many_units_is_looked_through_once(void **state)
{
    (void)state;
    enum { SHARING = 1000 };
    uint64_t needed[SHARING];
    skip_without_isal();
    assert_int_equal(run("cat > shared.s <<'END'\n"
                         ".section .debug_abbrev\n"
                         ".byte 1, 0x11, 0, 0, 0\n"
                         ".rept 100000\n.byte 2, 0x11, 0, 3, 8, 0x13, 0xb, 0, 0\n.endr\n.byte 0\n"
                         ".section .debug_info\n"
                         ".rept 1000\n.long 16\n.short 4\n.long 0\n.byte 8, 1\n.zero 8\n.endr\n"
                         ".section .debug_aranges\n.set n, 0\n"
                         ".rept 1000\n.long 44\n.short 2\n.long n * 20\n.byte 8, 0\n.long 0\n"
                         ".quad 0x1000 + n, 1, 0, 0\n.set n, n + 1\n.endr\nEND\n"
                         "gcc -c -Wa,--compress-debug-sections=zlib shared.s -o shared"),
                     0);
    for (uint64_t i = 0; i < SHARING; i++)
        needed[i] = 0x1000 + i;
    clock_t start = clock();
    int of_tables = 0;
    assert_int_equal(excerpts_of("shared", needed, SHARING, &of_tables), 100);
    assert_int_equal(of_tables, 100);
    assert_true(clock() - start < CLOCKS_PER_SEC);
}

/* The same with a table for each unit, all inside of a declaration of a million attributes, the innermost first. */
static void tables_inside_of_others_cost_as_little_as_others(void **state)
{
    (void)state;
    enum { UNITS_INSIDE = 1000 };
    uint64_t needed[UNITS_INSIDE];
    skip_without_isal();
    assert_int_equal(
        run("cat > inside.s <<'END'\n"
            ".section .debug_abbrev\n"
            ".byte 2, 0x2e, 0\n.rept 1000000\n.byte 0x3f, 0x19\n.endr\n.byte 0, 0, 0\n"
            ".section .debug_info\n.set n, 0\n"
            ".rept 1000\n.long 16\n.short 4\n.long 2004 - 2 * n\n.byte 8, 0x19\n.zero 8\n"
            ".set n, n + 1\n.endr\n"
            ".section .debug_aranges\n.set n, 0\n"
            ".rept 1000\n.long 44\n.short 2\n.long n * 20\n.byte 8, 0\n.long 0\n"
            ".quad 0x1000 + n, 1, 0, 0\n.set n, n + 1\n.endr\nEND\n"
            "gcc -c -Wa,--compress-debug-sections=zlib inside.s -o inside"),
        0);
    for (uint64_t i = 0; i < UNITS_INSIDE; i++)
        needed[i] = 0x1000 + i;
    clock_t start = clock();
    assert_int_equal(excerpt_of("inside", needed, UNITS_INSIDE), -ENOTSUP);
    assert_true(clock() - start < CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_address_needs_one_unit),
        cmocka_unit_test(addresses_outside_of_units_are_so_in_an_excerpt),
        cmocka_unit_test(without_aranges_all_is_kept),
        cmocka_unit_test(units_that_refer_to_others_are_read_whole),
        cmocka_unit_test(bytes_behind_the_last_unit_are_kept),
        cmocka_unit_test(damaged_files_are_survived),
        cmocka_unit_test(ranges_of_everything_cost_as_little_as_others),
        cmocka_unit_test(a_table_of_many_units_is_looked_through_once),
        cmocka_unit_test(tables_inside_of_others_cost_as_little_as_others),
    };
    return cmocka_run_group_tests(tests, build_units, remove_directory);
}

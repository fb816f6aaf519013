/* SPDX-License-Identifier: MIT */
/* Symbol tables of which only what can answer wanted addresses is kept: each answer is that of the whole table. */
#include "base/containers/buffer.h"
#include "symbols/symtab/symtab.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYMBOLS = 30, WANTED = 12, SPACE = 120, START = 0x1000, TEXTS = 2 };

/* Few places and names, so that symbols overlap, nest, and share their starts. */
static Elf64_Sym random_symbol(void)
{
    static const unsigned char types[] = {STT_FUNC, STT_FUNC, STT_NOTYPE, STT_GNU_IFUNC,
                                          STT_OBJECT};
    static const unsigned char binds[] = {STB_GLOBAL, STB_WEAK, STB_LOCAL};
    bool is_sized = random() % 3;
    return (Elf64_Sym){.st_name = (Elf64_Word)(random() % 16 * 4),
                       .st_info =
                           (unsigned char)ELF64_ST_INFO(binds[random() % 3], types[random() % 5]),
                       .st_shndx = (Elf64_Half)(1 + random() % TEXTS),
                       .st_value = START + (Elf64_Addr)(random() % SPACE),
                       .st_size = is_sized ? (Elf64_Xword)(random() % 30) : 0};
}

/* No name, one that begins with '$', an empty one, and others. */
static void append_names(struct buffer *file)
{
    static const char names[16][4] = {"",   "$x",  "_a", "__b", "c",  "d",   "ee", "_ff",
                                      "gg", "hhh", "i",  "j",   "_k", "__l", "m",  ""};
    buffer_append(file, names, sizeof(names));
}

static void make_image(struct elf_handle *handle)
{
    struct buffer file = {0};
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = sizeof(header),
        .e_ehsize = sizeof(header),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 5,
        .e_shstrndx = 4};
    size_t symbols_at = sizeof(header) + 5 * sizeof(Elf64_Shdr);
    size_t symbols_bytes = SYMBOLS * sizeof(Elf64_Sym);
    Elf64_Shdr sections[5] = {
        {0},
        {.sh_type = SHT_NOBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = START, .sh_size = SPACE / 2},
        {.sh_type = SHT_NOBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = START, .sh_size = SPACE},
        {.sh_type = SHT_SYMTAB,
         .sh_offset = symbols_at,
         .sh_size = symbols_bytes,
         .sh_link = 4,
         .sh_entsize = sizeof(Elf64_Sym)},
        {.sh_type = SHT_STRTAB, .sh_offset = symbols_at + symbols_bytes, .sh_size = 64}};
    buffer_append(&file, &header, sizeof(header));
    buffer_append(&file, sections, sizeof(sections));
    for (int i = 0; i < SYMBOLS; i++) {
        Elf64_Sym symbol = random_symbol();
        buffer_append(&file, &symbol, sizeof(symbol));
    }
    append_names(&file);
    assert_false(file.failed);
    assert_int_equal(elf_handle_adopt(handle, &file, NULL), 0);
}

static void load(struct symtab *symtab, const struct elf_handle *handle, const uint64_t *filter,
                 size_t count)
{
    assert_int_equal(symtab_init(symtab, filter, count), 0);
    assert_int_equal(symtab_add_section(symtab, handle, SHT_SYMTAB), 0);
    assert_int_equal(symtab_add_plt(symtab, START + SPACE / 3, 8, "stub"), 0);
    assert_int_equal(symtab_finish(symtab), 0);
}

/* Returns whether there was an answer. */
static bool compare_answers(struct symtab *some, struct symtab *all, uint64_t svma)
{
    const struct symbol *found = symtab_find(some, svma), *expected = symtab_find(all, svma);
    assert_int_equal(found != NULL, expected != NULL);
    if (!found)
        return false;
    assert_string_equal(symtab_name(some, found), symtab_name(all, expected));
    assert_string_equal(found->name, expected->name);
    assert_int_equal(found->svma, expected->svma);
    assert_int_equal(symbol_bytes(found), symbol_bytes(expected));
    return true;
}

static size_t compare_tables(void)
{
    struct elf_handle handle;
    struct symtab some, all;
    uint64_t filter[WANTED];
    uint64_t svma = START - 5;
    size_t count = 1 + (size_t)random() % WANTED, answers = 0;
    for (size_t i = 0; i < count; i++)
        filter[i] = svma += 1 + (uint64_t)random() % (2 * SPACE / count);
    make_image(&handle);
    load(&some, &handle, filter, count);
    load(&all, &handle, NULL, 0);
    for (size_t i = 0; i < count; i++)
        answers += compare_answers(&some, &all, filter[i]);
    symtab_free(&some);
    symtab_free(&all);
    elf_handle_close(&handle);
    return answers;
}

static void random_tables_answer_wanted_addresses_as_whole_ones_do(void **state)
{
    (void)state;
    size_t answers = 0;
    srandom(1);
    for (int round = 0; round < 20000; round++)
        answers += compare_tables();
    assert_true(answers > 20000);
}

static void what_no_wanted_address_needs_is_not_kept(void **state)
{
    (void)state;
    static const uint64_t filter[] = {0x155, 0x300};
    struct symtab symtab;
    assert_int_equal(symtab_init(&symtab, filter, 2), 0);
    for (uint64_t svma = 0x100; svma < 0x400; svma += 0x10)
        assert_int_equal(symtab_add_plt(&symtab, svma, 0x10, "f"), 0);
    assert_int_equal(symtab.count, 2);
    assert_int_equal(symtab_finish(&symtab), 0);
    assert_int_equal(symtab_find(&symtab, 0x155)->svma, 0x150);
    assert_int_equal(symtab_find(&symtab, 0x300)->svma, 0x300);
    symtab_free(&symtab);
}

static void a_range_tells_whether_it_holds_a_wanted_address(void **state)
{
    (void)state;
    static const uint64_t filter[] = {0x155, 0x300};
    struct symtab some, all;
    assert_int_equal(symtab_init(&some, filter, 2), 0);
    assert_int_equal(symtab_init(&all, NULL, 0), 0);
    assert_true(symtab_needs(&some, 0x155, 0x156));
    assert_true(symtab_needs(&some, 0x100, 0x400));
    assert_false(symtab_needs(&some, 0x100, 0x155));
    assert_false(symtab_needs(&some, 0x156, 0x300));
    assert_false(symtab_needs(&some, 0x301, UINT64_MAX));
    assert_true(symtab_needs(&all, 0x100, 0x101));
    symtab_free(&some);
    symtab_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tables_answer_wanted_addresses_as_whole_ones_do),
        cmocka_unit_test(what_no_wanted_address_needs_is_not_kept),
        cmocka_unit_test(a_range_tells_whether_it_holds_a_wanted_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

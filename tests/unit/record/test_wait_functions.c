/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/wait_functions.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 0x1000 };

/* An ELF file in memory with so many functions of this name, at CODE, CODE + 1, ... */
static struct elf_file *open_functions(const char *name, size_t count)
{
    const size_t symbols_at = sizeof(Elf64_Ehdr), names_at = symbols_at + count * sizeof(Elf64_Sym);
    const size_t headers_at = names_at + 64, size = headers_at + 3 * sizeof(Elf64_Shdr);
    uint8_t *bytes = calloc(1, size);
    struct elf_file *elf;
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_shoff = headers_at,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 3};
    Elf64_Shdr sections[3] = {{.sh_type = SHT_NULL},
                              {.sh_type = SHT_SYMTAB,
                               .sh_offset = symbols_at,
                               .sh_size = count * sizeof(Elf64_Sym),
                               .sh_entsize = sizeof(Elf64_Sym),
                               .sh_link = 2},
                              {.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = 64}};
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol = {
            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_value = CODE + i, .st_size = 1};
        memcpy(bytes + symbols_at + i * sizeof(symbol), &symbol, sizeof(symbol));
    }
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + names_at, name, strlen(name));
    memcpy(bytes + headers_at, sections, sizeof(sections));
    assert_int_equal(elf_open_memory(&elf, bytes, size, NULL), 0);
    free(bytes);
    return elf;
}

static size_t count_of(const char *name, size_t count, uint64_t svma, enum wait_kind kind)
{
    struct wait_functions functions;
    struct elf_file *elf = open_functions(name, count);
    assert_int_equal(wait_functions_read(&functions, elf), 0);
    assert_int_equal(wait_functions_find(&functions, svma), kind);
    size_t found = functions.count;
    wait_functions_free(&functions);
    elf_close(elf);
    return found;
}

static void functions_are_known_by_name(void **state)
{
    (void)state;
    assert_int_equal(count_of("__pthread_mutex_lock", 3, CODE + 2, WAIT_LOCK), 3);
    assert_int_equal(count_of("main", 3, CODE + 2, WAIT_OTHER), 0);
}

/* A program can name a million functions poll(). */
static void the_memory_for_a_file_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(count_of("poll", 100000, CODE, WAIT_POLL), 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_known_by_name),
        cmocka_unit_test(the_memory_for_a_file_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

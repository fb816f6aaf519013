/* SPDX-License-Identifier: MIT */
/* The build-id of a file: by notes of sections, else of segments, and not behind a MiB of notes. */
#include "symbols/files/elf_handle.h"

#include "elf/elf_file.h"
#include "symbols/symtab/symtab.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILLER_BYTES = 4096, ID_BYTES = 32, FILLERS_OF_A_MIB = (1 << 20) / FILLER_BYTES };

struct notes_file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Nhdr note;
    uint8_t name[4], id[ID_BYTES], filler[FILLER_BYTES];
    Elf64_Shdr sections[FILLERS_OF_A_MIB + 2];
};

static struct notes_file empty_file(void)
{
    struct notes_file file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_shentsize = sizeof(Elf64_Shdr)},
        .note = {.n_namesz = 4, .n_descsz = ID_BYTES, .n_type = NT_GNU_BUILD_ID},
        .name = "GNU"};
    for (size_t i = 0; i < ID_BYTES; i++)
        file.id[i] = (uint8_t)(i + 1);
    return file;
}

static uint64_t id_offset(void)
{
    return offsetof(struct notes_file, note);
}

static uint64_t id_bytes(void)
{
    return sizeof(Elf64_Nhdr) + 4 + ID_BYTES;
}

/* Sections with the same empty notes, and behind them one with the build-id. */
static size_t bytes_of_id_behind(size_t fillers)
{
    struct notes_file file = empty_file();
    const uint8_t *id;
    struct elf_handle handle;
    file.header.e_shoff = offsetof(struct notes_file, sections);
    file.header.e_shnum = (Elf64_Half)(fillers + 2);
    for (size_t i = 1; i <= fillers; i++)
        file.sections[i] = (Elf64_Shdr){.sh_type = SHT_NOTE,
                                        .sh_offset = offsetof(struct notes_file, filler),
                                        .sh_size = FILLER_BYTES,
                                        .sh_addralign = 4};
    file.sections[fillers + 1] = (Elf64_Shdr){
        .sh_type = SHT_NOTE, .sh_offset = id_offset(), .sh_size = id_bytes(), .sh_addralign = 4};
    assert_int_equal(elf_handle_open_memory(&handle, &file, sizeof(file), NULL), 0);
    size_t size = elf_handle_build_id(&handle, &id);
    if (size)
        assert_memory_equal(id, file.id, size);
    elf_handle_close(&handle);
    return size;
}

static void a_build_id_of_any_size_is_found_in_sections(void **state)
{
    (void)state;
    assert_int_equal(bytes_of_id_behind(0), ID_BYTES);
    assert_int_equal(bytes_of_id_behind(FILLERS_OF_A_MIB - 1), ID_BYTES);
}

/* A sparse file with the number of sections in section 0. */
static int open_with_sections(uint64_t count, uint8_t class)
{
    char path[] = "/tmp/rec-test-XXXXXX";
    struct notes_file file = empty_file();
    struct elf_handle handle;
    const Elf64_Shdr first = {.sh_size = count};
    const Elf32_Shdr first_32 = {.sh_size = (Elf32_Word)count};
    Elf32_Ehdr header_32 = {.e_type = ET_DYN,
                            .e_version = EV_CURRENT,
                            .e_shoff = 4096,
                            .e_ehsize = sizeof(Elf32_Ehdr),
                            .e_shentsize = sizeof(Elf32_Shdr)};
    const bool is_64 = class == ELFCLASS64;
    memcpy(header_32.e_ident, file.header.e_ident, EI_NIDENT);
    header_32.e_ident[EI_CLASS] = ELFCLASS32;
    file.header.e_shoff = 4096;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(4096 + count * sizeof(Elf64_Shdr))), 0);
    assert_true(pwrite(fd, is_64 ? (void *)&file.header : (void *)&header_32,
                       is_64 ? sizeof(file.header) : sizeof(header_32), 0) > 0);
    assert_true(pwrite(fd, is_64 ? (const void *)&first : (const void *)&first_32,
                       is_64 ? sizeof(first) : sizeof(first_32), 4096) > 0);
    close(fd);
    int err = elf_handle_open(&handle, path, NULL);
    elf_handle_close(&handle);
    unlink(path);
    return err;
}

/* libelf would allocate a GiB for four million. */
static void more_sections_than_of_any_object_file_are_refused(void **state)
{
    (void)state;
    static const uint8_t classes[] = {ELFCLASS32, ELFCLASS64};
    for (size_t i = 0; i < sizeof(classes); i++) {
        assert_int_equal(open_with_sections(ELF_SECTIONS_LARGE_MAX, classes[i]), 0);
        assert_int_equal(open_with_sections(ELF_SECTIONS_LARGE_MAX + 1, classes[i]), -EFBIG);
    }
}

static void notes_beyond_a_mib_are_not_read(void **state)
{
    (void)state;
    assert_int_equal(bytes_of_id_behind(FILLERS_OF_A_MIB), 0);
}

static void a_file_without_sections_has_its_build_id_in_a_segment(void **state)
{
    (void)state;
    struct notes_file file = empty_file();
    const uint8_t *id;
    struct elf_handle handle;
    file.header.e_phoff = offsetof(struct notes_file, segment);
    file.header.e_phnum = 1;
    file.segment = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_offset = id_offset(), .p_filesz = id_bytes(), .p_align = 4};
    assert_int_equal(elf_handle_open_memory(&handle, &file, sizeof(file), NULL), 0);
    assert_int_equal(elf_handle_build_id(&handle, &id), ID_BYTES);
    assert_memory_equal(id, file.id, ID_BYTES);
    elf_handle_close(&handle);
}

static void notes_outside_of_the_file_are_left_out(void **state)
{
    (void)state;
    struct notes_file file = empty_file();
    const uint8_t *id;
    struct elf_handle handle;
    file.header.e_phoff = offsetof(struct notes_file, segment);
    file.header.e_phnum = 1;
    file.segment = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_offset = UINT64_MAX - 8, .p_filesz = id_bytes(), .p_align = 4};
    assert_int_equal(elf_handle_open_memory(&handle, &file, sizeof(file), NULL), 0);
    assert_int_equal(elf_handle_build_id(&handle, &id), 0);
    elf_handle_close(&handle);
}

/* A table of 72 MiB in a file of a few blocks. */
static void symbols_in_a_hole_are_not_read(void **state)
{
    (void)state;
    struct notes_file file = empty_file();
    struct elf_handle handle;
    struct symtab symtab;
    char path[] = "/tmp/rec-test-hole.XXXXXX";
    const size_t hole_bytes = 72 << 20;
    file.header.e_shoff = offsetof(struct notes_file, sections);
    file.header.e_shnum = 2;
    file.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                    .sh_offset = sizeof(file),
                                    .sh_size = hole_bytes,
                                    .sh_entsize = sizeof(Elf64_Sym),
                                    .sh_addralign = 8};
    int fd = mkstemp(path);
    assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
    assert_int_equal(ftruncate(fd, (off_t)(sizeof(file) + hole_bytes)), 0);
    assert_int_equal(elf_handle_open(&handle, path, NULL), 0);
    assert_true(elf_handle_may_store(&handle, 64 << 20));
    assert_false(elf_handle_may_store(&handle, hole_bytes));
    assert_int_equal(symtab_init(&symtab, NULL, 0), 0);
    assert_int_equal(symtab_add_section(&symtab, &handle, SHT_SYMTAB), -ENOENT);
    symtab_free(&symtab);
    elf_handle_close(&handle);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_of_any_size_is_found_in_sections),
        cmocka_unit_test(more_sections_than_of_any_object_file_are_refused),
        cmocka_unit_test(notes_beyond_a_mib_are_not_read),
        cmocka_unit_test(a_file_without_sections_has_its_build_id_in_a_segment),
        cmocka_unit_test(notes_outside_of_the_file_are_left_out),
        cmocka_unit_test(symbols_in_a_hole_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The build-id of a file: by notes of sections, else of segments, and not behind a MiB of notes. */
#include "symbols/files/elf_handle.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_of_any_size_is_found_in_sections),
        cmocka_unit_test(notes_beyond_a_mib_are_not_read),
        cmocka_unit_test(a_file_without_sections_has_its_build_id_in_a_segment),
        cmocka_unit_test(notes_outside_of_the_file_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Lines of /proc/PID/maps, and headers in the memory of a process that may be hostile. */
#include "record/attach/images/image_header.h"
#include "record/attach/images/image_maps.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START UINT64_C(0x7f0000000000)
enum { MEMORY_BYTES = 8192, NOTES_AT = 0x400 };

static uint8_t memory[MEMORY_BYTES];

static bool read_memory(void *context, uint64_t avma, void *bytes, size_t size)
{
    (void)context;
    if (avma < START || avma - START > MEMORY_BYTES || size > MEMORY_BYTES - (avma - START))
        return false;
    memcpy(bytes, memory + (avma - START), size);
    return true;
}

/* A library: code at offset 0x1000, a build-id of two bytes. */
static void make(void)
{
    static const uint8_t note[] = {4, 0, 0,   0,   2,   0, 0,    0,    3, 0,
                                   0, 0, 'G', 'N', 'U', 0, 0xca, 0xfe, 0, 0};
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)memory;
    Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(memory + sizeof(*header));
    memset(memory, 0, sizeof(memory));
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_phoff = sizeof(*header);
    header->e_phentsize = sizeof(*segments);
    header->e_phnum = 3;
    segments[0] =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x800, .p_memsz = 0x800};
    segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_offset = 0x1000,
                               .p_vaddr = 0x3000,
                               .p_filesz = 0x800,
                               .p_memsz = 0x800};
    segments[2] = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_offset = NOTES_AT, .p_vaddr = NOTES_AT, .p_filesz = sizeof(note)};
    memcpy(memory + NOTES_AT, note, sizeof(note));
}

static bool read_header(struct image *image)
{
    *image = (struct image){0};
    return image_header_read(image, START, START + 0x3000, 0x1000, read_memory, NULL);
}

static void segments_bias_and_build_id_come_from_memory(void **state)
{
    (void)state;
    struct image image;
    make();
    assert_true(read_header(&image));
    assert_int_equal(image.bias, START);
    assert_int_equal(image.segment_count, 2);
    assert_int_equal(image.segments[1].svma, 0x3000);
    assert_int_equal(image.build_id_bytes, 2);
    assert_memory_equal(image.build_id, "\xca\xfe", 2);
}

/* Each byte of the headers with each of some values: nothing is read beyond a limit, sanitizers watch. */
static void hostile_headers_are_harmless(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    struct image image;
    for (size_t at = 0; at < sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr); at++)
        for (size_t i = 0; i < sizeof(values); i++) {
            make();
            memory[at] = values[i];
            (void)read_header(&image);
            assert_true(image.segment_count <= IMAGE_SEGMENTS_MAX);
            assert_true(image.build_id_bytes <= 20);
        }
    make();
    memory[EI_CLASS] = ELFCLASS32;
    assert_false(read_header(&image));
    make();
    ((Elf64_Ehdr *)(void *)memory)->e_phnum = 0xffff;
    assert_false(read_header(&image));
    make();
    ((Elf64_Ehdr *)(void *)memory)->e_phoff = UINT64_MAX - 8;
    assert_false(read_header(&image));
}

static void a_line_has_file_and_state(void **state)
{
    (void)state;
    struct image_part part;
    assert_true(image_part_parse(&part, "7f0000001000-7f0000003000 r-xp 00001000 fd:01 4711        "
                                        "           /lib/a b.so (deleted)\n"));
    assert_int_equal(part.start_avma, 0x7f0000001000);
    assert_int_equal(part.end_avma, 0x7f0000003000);
    assert_int_equal(part.file_offset, 0x1000);
    assert_int_equal(part.inode, 4711);
    assert_true(part.is_executable && part.is_deleted);
    assert_string_equal(part.path, "/lib/a b.so");
    assert_true(image_part_parse(&part, "1000-2000 rw-p 00000000 00:00 0 \n"));
    assert_string_equal(part.path, "");
    assert_false(part.is_executable);
}

static void broken_lines_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "\n",
                                        "1000",
                                        "1000-",
                                        "1000-2000",
                                        "1000-2000 r",
                                        "2000-1000 r-xp 0 0:0 0 /x",
                                        "1000-2000 r-xp",
                                        "1000-2000 r-xp 0",
                                        "1000-2000 r-xp 0 0",
                                        "x-2000 r-xp 0 0:0 0 /x"};
    struct image_part part;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_false(image_part_parse(&part, lines[i]));
}

static void long_paths_are_cut(void **state)
{
    (void)state;
    static char line[8192];
    struct image_part part;
    int used = snprintf(line, sizeof(line), "1000-2000 r-xp 00000000 00:00 1 /");
    memset(line + used, 'x', sizeof(line) - (size_t)used - 1);
    assert_true(image_part_parse(&part, line));
    assert_int_equal(strlen(part.path), IMAGE_PATH_BYTES - 1);
}

static void the_same_file_again_is_another_image(void **state)
{
    (void)state;
    struct image_part part = {.start_avma = 0x1000, .end_avma = 0x2000, .inode = 7, .path = "/x"};
    struct image_run run = {0};
    assert_false(image_run_takes(&run, &part));
    image_run_begin(&run, &part);
    assert_int_equal(run.code_avma, 0);
    struct image_part code = part;
    code.start_avma = 0x2000;
    code.end_avma = 0x3000;
    code.file_offset = 0x1000;
    code.is_executable = true;
    assert_true(image_run_takes(&run, &code));
    image_run_add(&run, &code);
    assert_int_equal(run.code_avma, 0x2000);
    assert_int_equal(run.end_avma, 0x3000);
    part.start_avma = 0x3000;
    assert_false(image_run_takes(&run, &part));
    struct image_part data = code;
    data.file_offset = 0x3000;
    image_run_add(&run, &data);
    code.start_avma = 0x7f0000000000;
    assert_false(image_run_takes(&run, &code)); /* the code once more */
    data.file_offset = 0x4000;
    assert_true(image_run_takes(&run, &data));
    code = data;
    code.inode = 8;
    assert_false(image_run_takes(&run, &code));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_bias_and_build_id_come_from_memory),
        cmocka_unit_test(hostile_headers_are_harmless),
        cmocka_unit_test(a_line_has_file_and_state),
        cmocka_unit_test(broken_lines_are_refused),
        cmocka_unit_test(long_paths_are_cut),
        cmocka_unit_test(the_same_file_again_is_another_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * A small ELF file written by hand, so that each of its fields can be made wrong, and the program
 * itself as a real one.
 *
 *     0x000  header            0x400  .text (4 bytes)         0x600  section headers
 *     0x040  4 segments        0x480  note: build-id          0x900  end
 *     0x200  section names     0x500  .squeezed (zlib)
 */
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { SECTIONS = 6, SEGMENTS = 4, FILE_BYTES = 0x900, INFLATED = 5000 };

struct image {
    union {
        uint8_t bytes[FILE_BYTES];
        Elf64_Ehdr header;
    };
};

static Elf64_Phdr *segment(struct image *image, size_t i)
{
    return (Elf64_Phdr *)(void *)(image->bytes + 0x40) + i;
}

static Elf64_Shdr *section(struct image *image, size_t i)
{
    return (Elf64_Shdr *)(void *)(image->bytes + 0x600) + i;
}

static const char names[] = "\0.shstrtab\0.text\0.note.gnu.build-id\0.squeezed\0.bss";

static uint32_t name_at(const char *name)
{
    for (uint32_t i = 0; i < sizeof(names); i++)
        if (strcmp(names + i, name) == 0)
            return i;
    return 0;
}

static void fill_segments(struct image *image)
{
    /* The text's address is not its offset: 0x401400 is loaded from 0x400. */
    *segment(image, 0) = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R,
                                      .p_vaddr = 0x400000,
                                      .p_filesz = 0x300,
                                      .p_memsz = 0x300};
    *segment(image, 1) = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_X,
                                      .p_offset = 0x400,
                                      .p_vaddr = 0x401400,
                                      .p_filesz = 0x100,
                                      .p_memsz = 0x180};
    *segment(image, 2) = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0x480, .p_filesz = 36};
    *segment(image, 3) = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = 0x4c0, .p_filesz = 7};
}

static void fill_sections(struct image *image, size_t squeezed_bytes)
{
    *section(image, 1) = (Elf64_Shdr){.sh_name = name_at(".shstrtab"),
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = 0x200,
                                      .sh_size = sizeof(names)};
    *section(image, 2) = (Elf64_Shdr){.sh_name = name_at(".text"),
                                      .sh_type = SHT_PROGBITS,
                                      .sh_flags = SHF_ALLOC,
                                      .sh_addr = 0x401400,
                                      .sh_offset = 0x400,
                                      .sh_size = 4};
    *section(image, 3) = (Elf64_Shdr){.sh_name = name_at(".note.gnu.build-id"),
                                      .sh_type = SHT_NOTE,
                                      .sh_offset = 0x480,
                                      .sh_size = 36};
    *section(image, 4) = (Elf64_Shdr){.sh_name = name_at(".squeezed"),
                                      .sh_type = SHT_PROGBITS,
                                      .sh_flags = SHF_COMPRESSED,
                                      .sh_offset = 0x500,
                                      .sh_size = squeezed_bytes};
    *section(image, 5) =
        (Elf64_Shdr){.sh_name = name_at(".bss"), .sh_type = SHT_NOBITS, .sh_size = 100};
}

static struct image sound_image(void)
{
    struct image image = {.bytes = {0}};
    image.header = (Elf64_Ehdr){
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_entry = 0x401400,
        .e_phoff = 0x40,
        .e_shoff = 0x600,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 1,
    };
    memcpy(image.bytes + 0x200, names, sizeof(names));
    memcpy(image.bytes + 0x400, "\x90\x90\x90\xc3", 4);
    const Elf64_Nhdr note = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
    memcpy(image.bytes + 0x480, &note, sizeof(note));
    memcpy(image.bytes + 0x48c, "GNU\0abcdefghijklmnopqrst", 24);
    memcpy(image.bytes + 0x4c0, "/ld.so", 7);
    uint8_t plain[INFLATED];
    memset(plain, 'x', sizeof(plain));
    const Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = INFLATED};
    uLongf size = 0x100 - sizeof(head);
    memcpy(image.bytes + 0x500, &head, sizeof(head));
    assert_int_equal(compress(image.bytes + 0x500 + sizeof(head), &size, plain, INFLATED), Z_OK);
    fill_segments(&image);
    fill_sections(&image, sizeof(head) + size);
    return image;
}

/* The result of opening the first size bytes as a file. */
static int open_bytes(struct elf_file **elf, const struct image *image, size_t size)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->bytes, size), size);
    int err = elf_open(elf, fd, NULL);
    close(fd);
    return err;
}

static struct elf_file *opened(const struct image *image)
{
    struct elf_file *elf;
    assert_int_equal(open_bytes(&elf, image, FILE_BYTES), 0);
    return elf;
}

static void sound_file_is_read_as_it_says(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct elf_file *elf = opened(&image);
    assert_int_equal(elf_machine(elf), EM_X86_64);
    assert_int_equal(elf_entry_svma(elf), 0x401400);
    assert_int_equal(elf_segment_count(elf), SEGMENTS);
    assert_int_equal(elf_segment(elf, 1)->svma, 0x401400);
    assert_int_equal(elf_segment(elf, 1)->flags, PF_R | PF_X);
    assert_int_equal(elf_segment(elf, 1)->memory_bytes, 0x180);
    assert_int_equal(elf_section_count(elf), SECTIONS);
    assert_string_equal(elf_section(elf, 5)->name, ".bss");
    assert_ptr_equal(elf_find_section(elf, ".text"), elf_section(elf, 2));
    assert_null(elf_find_section(elf, ".tex"));
    assert_string_equal(elf_interpreter(elf), "/ld.so");
    assert_false(elf_is_go(elf));
    uint8_t id[20];
    assert_int_equal(elf_build_id(elf, id), 20);
    assert_memory_equal(id, "abcdefghijklmnopqrst", 20);
    elf_close(elf);
}

static void sections_are_appended_and_inflated(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct elf_file *elf = opened(&image);
    struct buffer out = {0};
    assert_int_equal(elf_read_section(elf, elf_find_section(elf, ".text"), &out, NULL), 0);
    assert_int_equal(elf_read_section(elf, elf_find_section(elf, ".squeezed"), &out, NULL), 0);
    assert_int_equal(out.size, 4 + INFLATED);
    assert_memory_equal(out.bytes, "\x90\x90\x90\xc3xxxx", 8);
    assert_int_equal(out.bytes[3 + INFLATED], 'x');
    assert_int_equal(elf_read_section(elf, elf_find_section(elf, ".bss"), &out, NULL), -ENODATA);
    assert_int_equal(out.size, 4 + INFLATED);
    buffer_free(&out);
    elf_close(elf);
}

static int read_squeezed(const struct image *image)
{
    struct elf_file *elf = opened(image);
    struct buffer out = {0};
    int err = elf_read_section(elf, elf_find_section(elf, ".squeezed"), &out, NULL);
    if (err != 0)
        assert_int_equal(out.size, 0);
    buffer_free(&out);
    elf_close(elf);
    return err;
}

static void compressed_sections_that_lie_are_refused(void **state)
{
    (void)state;
    struct image image = sound_image();
    Elf64_Chdr *head = (Elf64_Chdr *)(void *)(image.bytes + 0x500);
    head->ch_size = INFLATED + 1; /* more than there is */
    assert_int_equal(read_squeezed(&image), -EBADMSG);
    head->ch_size = INFLATED - 1; /* less */
    assert_int_equal(read_squeezed(&image), -EBADMSG);
    head->ch_size = UINT64_C(1) << 29; /* half a gigabyte out of a hundred bytes */
    assert_int_equal(read_squeezed(&image), -EBADMSG);
    head->ch_size = UINT64_MAX;
    assert_int_equal(read_squeezed(&image), -EBADMSG);
    head->ch_size = INFLATED;
    image.bytes[0x520] ^= 0xff; /* damaged */
    assert_int_equal(read_squeezed(&image), -EBADMSG);
    image = sound_image();
    head->ch_type = 99;
    assert_int_equal(read_squeezed(&image), -ENOTSUP);
    image = sound_image();
    section(&image, 4)->sh_size = 10; /* ends inside its own header */
    assert_int_equal(read_squeezed(&image), -EBADMSG);
}

static void offsets_past_the_end_are_refused(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct buffer out = {0};
    static const struct {
        uint64_t offset, size;
    } outside[] = {
        {0x8fe, 4},          {FILE_BYTES, 1},    {UINT64_MAX, 1},
        {UINT64_MAX - 2, 4}, {0x10, UINT64_MAX}, {0, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        section(&image, 2)->sh_offset = outside[i].offset;
        section(&image, 2)->sh_size = outside[i].size;
        struct elf_file *elf = opened(&image);
        assert_int_equal(elf_read_section(elf, elf_section(elf, 2), &out, NULL), -ENODATA);
        elf_close(elf);
    }
    assert_int_equal(out.size, 0);
    buffer_free(&out);
}

static void other_files_are_not_executable_formats(void **state)
{
    (void)state;
    struct elf_file *elf;
    struct image image = sound_image();
    for (size_t size = 0; size < sizeof(Elf64_Ehdr); size++)
        assert_int_equal(open_bytes(&elf, &image, size), -ENOEXEC);
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(open_bytes(&elf, &image, FILE_BYTES), -ENOEXEC);
    image = sound_image();
    image.header.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(open_bytes(&elf, &image, FILE_BYTES), -ENOEXEC);
    image.bytes[0] = '#';
    assert_int_equal(open_bytes(&elf, &image, FILE_BYTES), -ENOEXEC);
    assert_null(elf);
}

/* Whatever the file was cut off at, it opens with what is left of it. */
static void truncated_file_keeps_its_beginning(void **state)
{
    (void)state;
    struct image image = sound_image();
    for (size_t size = sizeof(Elf64_Ehdr); size < FILE_BYTES; size += 7) {
        struct elf_file *elf;
        assert_int_equal(open_bytes(&elf, &image, size), 0);
        size_t segments = 0x40 + SEGMENTS * sizeof(Elf64_Phdr) <= size ? SEGMENTS : 0;
        size_t sections = 0x600 + SECTIONS * sizeof(Elf64_Shdr) <= size ? SECTIONS : 0;
        assert_int_equal(elf_segment_count(elf), segments);
        assert_int_equal(elf_section_count(elf), sections);
        elf_close(elf);
    }
}

static void nonsense_in_the_header_is_as_good_as_absent(void **state)
{
    (void)state;
    struct image image = sound_image();
    image.header.e_phentsize = 8;
    image.header.e_shentsize = 8;
    struct elf_file *elf = opened(&image);
    assert_int_equal(elf_segment_count(elf), 0);
    assert_int_equal(elf_section_count(elf), 0);
    elf_close(elf);

    image = sound_image();
    image.header.e_shnum = UINT16_MAX;
    image.header.e_phoff = UINT64_MAX - 8;
    elf = opened(&image);
    assert_int_equal(elf_segment_count(elf), 0);
    assert_int_equal(elf_section_count(elf), 0);
    elf_close(elf);

    image = sound_image(); /* no section of names, and names past its end */
    image.header.e_shstrndx = 77;
    elf = opened(&image);
    assert_string_equal(elf_section(elf, 2)->name, "");
    elf_close(elf);
    image = sound_image();
    section(&image, 2)->sh_name = 4000;
    elf = opened(&image);
    assert_string_equal(elf_section(elf, 2)->name, "");
    assert_string_equal(elf_section(elf, 5)->name, ".bss");
    elf_close(elf);
}

static void large_counts_are_found_in_section_0(void **state)
{
    (void)state;
    struct image image = sound_image();
    image.header.e_phnum = PN_XNUM;
    image.header.e_shnum = 0;
    image.header.e_shstrndx = SHN_XINDEX;
    *section(&image, 0) = (Elf64_Shdr){.sh_size = SECTIONS, .sh_link = 1, .sh_info = SEGMENTS};
    struct elf_file *elf = opened(&image);
    assert_int_equal(elf_segment_count(elf), SEGMENTS);
    assert_int_equal(elf_section_count(elf), SECTIONS);
    assert_non_null(elf_find_section(elf, ".text"));
    elf_close(elf);
}

static void malformed_notes_are_ignored(void **state)
{
    (void)state;
    uint8_t id[20];
    struct image image = sound_image();
    Elf64_Nhdr *note = (Elf64_Nhdr *)(void *)(image.bytes + 0x480);
    note->n_descsz = UINT32_MAX;
    struct elf_file *elf = opened(&image);
    assert_int_equal(elf_build_id(elf, id), 0);
    elf_close(elf);
    note->n_descsz = 20;
    note->n_namesz = UINT32_MAX - 2;
    elf = opened(&image);
    assert_int_equal(elf_build_id(elf, id), 0);
    elf_close(elf);
}

static void separate_debug_file_has_its_build_id_in_a_section(void **state)
{
    (void)state;
    uint8_t id[20];
    struct image image = sound_image();
    segment(&image, 2)->p_filesz = 0;
    struct elf_file *elf = opened(&image);
    assert_int_equal(elf_build_id(elf, id), 20);
    assert_memory_equal(id, "abcdefghijklmnopqrst", 20);
    elf_close(elf);
}

static void go_is_known_by_its_note(void **state)
{
    (void)state;
    struct image image = sound_image();
    ((Elf64_Nhdr *)(void *)(image.bytes + 0x480))->n_type = 4;
    memcpy(image.bytes + 0x48c, "Go\0", 4);
    struct elf_file *elf = opened(&image);
    assert_true(elf_is_go(elf));
    elf_close(elf);
}

static void load_bias_follows_the_segment(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct elf_file *elf = opened(&image);
    uint64_t bias;
    /* The kernel maps whole pages: file offset 0 lies at 0x401000 of the text segment. */
    assert_int_equal(elf_load_bias(elf, 0x7f0000401000, 0, &bias), 0);
    assert_int_equal(bias, 0x7f0000000000);
    assert_int_equal(elf_load_bias(elf, 0x401000, 0, &bias), 0);
    assert_int_equal(bias, 0);
    /* A mapping that begins inside the segment */
    assert_int_equal(elf_load_bias(elf, 0x7f0000401480, 0x480, &bias), 0);
    assert_int_equal(bias, 0x7f0000000000);
    assert_int_equal(elf_load_bias(elf, 0x7f0000401000, 0x500, &bias), -ENOENT);
    assert_int_equal(elf_load_bias(elf, 0x7f0000401000, UINT64_MAX, &bias), -ENOENT);
    elf_close(elf);
}

static void addresses_are_read_from_the_file_part_of_segments(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct elf_file *elf = opened(&image);
    uint8_t bytes[8];
    assert_int_equal(elf_read_svma(elf, 0x401400, bytes, 4), 0);
    assert_memory_equal(bytes, "\x90\x90\x90\xc3", 4);
    assert_int_equal(elf_read_svma(elf, 0x4014fc, bytes, 4), 0);
    assert_int_equal(elf_read_svma(elf, 0x4014fd, bytes, 4), -ENOENT); /* into the zeros */
    assert_int_equal(elf_read_svma(elf, 0x4013ff, bytes, 1), -ENOENT);
    assert_int_equal(elf_read_svma(elf, UINT64_MAX, bytes, 8), -ENOENT);
    elf_close(elf);
}

/* In memory, everything loaded lies at its address less the first segment's. */
static void image_in_memory_has_offsets_of_addresses(void **state)
{
    (void)state;
    struct image image = sound_image();
    static uint8_t memory[0x1500];
    memcpy(memory, image.bytes, FILE_BYTES);
    memcpy(memory + 0x1400, "loaded", 6);
    struct elf_file *elf;
    uint8_t bytes[6];
    uint64_t bias;
    assert_int_equal(elf_open_memory(&elf, memory, sizeof(memory), NULL), 0);
    assert_int_equal(elf_read_svma(elf, 0x401400, bytes, 6), 0);
    assert_memory_equal(bytes, "loaded", 6);
    struct buffer out = {0};
    assert_int_equal(elf_read_section(elf, elf_find_section(elf, ".text"), &out, NULL), 0);
    assert_memory_equal(out.bytes, "load", 4);
    assert_int_equal(elf_load_bias(elf, 0x7fff00001400, 0x1400, &bias), 0);
    assert_int_equal(bias, 0x7fff00000000 - 0x400000);
    buffer_free(&out);
    elf_close(elf);
}

/* The dynamic linker knows where this very program lies; so must the bias out of /proc/self/maps.
 */
static int compare_with_linker(struct dl_phdr_info *info, size_t size, void *counted)
{
    (void)size;
    char path[4096] = "/proc/self/exe";
    if (info->dlpi_name[0])
        snprintf(path, sizeof(path), "%s", info->dlpi_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct elf_file *elf;
    if (fd < 0)
        return 0; /* the vDSO */
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    close(fd);
    assert_int_equal(elf_segment_count(elf), info->dlpi_phnum);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
        uint64_t bias, page = phdr->p_offset & ~UINT64_C(4095);
        if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
            continue;
        uint64_t start_avma = info->dlpi_addr + phdr->p_vaddr - (phdr->p_offset - page);
        assert_int_equal(elf_load_bias(elf, start_avma, page, &bias), 0);
        assert_int_equal(bias, info->dlpi_addr);
        ++*(int *)counted;
    }
    elf_close(elf);
    return 0;
}

static void a_released_file_keeps_its_code_segments_alone(void **state)
{
    (void)state;
    struct image image = sound_image();
    struct elf_file *elf = opened(&image);
    uint8_t id[20];
    uint64_t bias;
    assert_true(elf_section_count(elf) > 0);
    const size_t bytes = elf_released_bytes(elf);
    elf_release_file(elf);
    assert_int_equal(elf_released_bytes(elf), bytes);
    assert_int_equal(elf_section_count(elf), 0);
    assert_null(elf_find_section(elf, ".text"));
    assert_int_equal(elf_segment_count(elf), 1);
    assert_int_equal(elf_load_bias(elf, 0x500400, 0x400, &bias), 0);
    assert_true(elf_segment(elf, 0)->flags & PF_X);
    assert_int_equal(elf_build_id(elf, id), 20);
    elf_close(elf);
}

static void load_bias_is_the_dynamic_linkers(void **state)
{
    (void)state;
    int counted = 0;
    dl_iterate_phdr(compare_with_linker, &counted);
    assert_true(counted >= 3);
}

/* A file of zeros behind its header: as many tables entries as stated. */
static void assert_counts(const struct image *image, size_t segments, size_t sections,
                          bool is_large)
{
    struct elf_file *elf;
    int fd = memfd_create("elf", MFD_CLOEXEC);
    assert_int_equal(write(fd, image->bytes, FILE_BYTES), FILE_BYTES);
    assert_int_equal(ftruncate(fd, 16 << 20), 0);
    assert_int_equal(is_large ? elf_open_large(&elf, fd, NULL) : elf_open(&elf, fd, NULL), 0);
    assert_int_equal(elf_segment_count(elf), segments);
    assert_int_equal(elf_section_count(elf), sections);
    elf_close(elf);
    close(fd);
}

static void tables_larger_than_of_any_program_count_as_absent(void **state)
{
    enum { SEGMENTS_MOST = 1024, SECTIONS_MOST = 65536 };
    (void)state;
    struct image image = sound_image();
    image.header.e_phnum = SEGMENTS_MOST;
    image.header.e_shnum = 0;
    section(&image, 0)->sh_size = SECTIONS_MOST;
    assert_counts(&image, SEGMENTS_MOST, SECTIONS_MOST, false);
    image.header.e_phnum = SEGMENTS_MOST + 1;
    section(&image, 0)->sh_size = SECTIONS_MOST + 1;
    assert_counts(&image, 0, 0, false);
    assert_counts(&image, SEGMENTS_MOST + 1, SECTIONS_MOST + 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_file_is_read_as_it_says),
        cmocka_unit_test(tables_larger_than_of_any_program_count_as_absent),
        cmocka_unit_test(sections_are_appended_and_inflated),
        cmocka_unit_test(compressed_sections_that_lie_are_refused),
        cmocka_unit_test(offsets_past_the_end_are_refused),
        cmocka_unit_test(other_files_are_not_executable_formats),
        cmocka_unit_test(truncated_file_keeps_its_beginning),
        cmocka_unit_test(nonsense_in_the_header_is_as_good_as_absent),
        cmocka_unit_test(large_counts_are_found_in_section_0),
        cmocka_unit_test(malformed_notes_are_ignored),
        cmocka_unit_test(separate_debug_file_has_its_build_id_in_a_section),
        cmocka_unit_test(go_is_known_by_its_note),
        cmocka_unit_test(load_bias_follows_the_segment),
        cmocka_unit_test(addresses_are_read_from_the_file_part_of_segments),
        cmocka_unit_test(image_in_memory_has_offsets_of_addresses),
        cmocka_unit_test(a_released_file_keeps_its_code_segments_alone),
        cmocka_unit_test(load_bias_is_the_dynamic_linkers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

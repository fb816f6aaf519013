/* SPDX-License-Identifier: MIT */
#include "record/attach/images/image_header.h"

#include "elf/build_id_note.h"

#include <elf.h>
#include <string.h>

#define PROGRAM_HEADERS_MAX 256
#define NOTES_BYTES_MAX 4096

static bool is_supported(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
           header->e_phnum <= PROGRAM_HEADERS_MAX;
}

static void add_segment(struct image *image, const Elf64_Phdr *from)
{
    if (image->segment_count == IMAGE_SEGMENTS_MAX)
        return;
    image->segments[image->segment_count++] = (struct elf_segment){.type = from->p_type,
                                                                   .flags = from->p_flags,
                                                                   .offset = from->p_offset,
                                                                   .svma = from->p_vaddr,
                                                                   .file_bytes = from->p_filesz,
                                                                   .memory_bytes = from->p_memsz};
}

static void read_build_id(struct image *image, const Elf64_Phdr *notes, image_read_function *read,
                          void *context)
{
    uint8_t bytes[NOTES_BYTES_MAX];
    size_t size = notes->p_filesz < sizeof(bytes) ? (size_t)notes->p_filesz : sizeof(bytes);
    if (image->build_id_bytes == 0 && read(context, image->bias + notes->p_vaddr, bytes, size))
        image->build_id_bytes = (uint32_t)build_id_note_find(bytes, size, image->build_id);
}

/* The program headers come first: with the bias, the notes are found at their addresses. */
bool image_header_read(struct image *image, uint64_t header_avma, uint64_t code_avma,
                       uint64_t code_offset, image_read_function *read, void *context)
{
    Elf64_Ehdr header;
    Elf64_Phdr segments[PROGRAM_HEADERS_MAX];
    if (!read(context, header_avma, &header, sizeof(header)) || !is_supported(&header) ||
        !read(context, header_avma + header.e_phoff, segments,
              header.e_phnum * sizeof(segments[0])))
        return false;
    for (size_t i = 0; i < header.e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            add_segment(image, &segments[i]);
    if (elf_segments_bias(image->segments, image->segment_count, code_avma, code_offset,
                          &image->bias) != 0)
        return false;
    for (size_t i = 0; i < header.e_phnum; i++)
        if (segments[i].p_type == PT_NOTE)
            read_build_id(image, &segments[i], read, context);
    image->has_header = true;
    return true;
}

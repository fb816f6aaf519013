/* SPDX-License-Identifier: MIT */
/*
 * The image that libelf opens, and the bytes of sections, which are elsewhere:
 *
 *     image     Elf64_Ehdr │ names, each with a NUL │ pad to 8 │ Elf64_Shdr: null, sections, names
 *     sections  borrowed bytes ◀── d_buf, d_size of each section, set after the opening
 *
 * No copy of the sections is made: a .dwp has gigabytes, and each unit needs an image of its own.
 */
#include "symbols/files/elf_build.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

void elf_build_add(struct elf_build *build, const char *name, const void *bytes, size_t size)
{
    if (size == 0 || build->count == ELF_BUILD_SECTIONS)
        return;
    build->sections[build->count].name = name;
    build->sections[build->count].bytes = bytes;
    build->sections[build->count++].size = size;
}

/* Writes the header, the names and the section table, with sections still empty. */
static void write_headers(const struct elf_build *build, struct buffer *file)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_NONE, /* the sections have no relocations */
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr)};
    Elf64_Shdr sections[ELF_BUILD_SECTIONS + 2] = {{0}};
    size_t names = sizeof(header);
    buffer_zeros(file, names + 1);
    for (size_t i = 0; i < build->count; i++) {
        sections[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)(file->size - names),
                                       .sh_type = SHT_PROGBITS,
                                       .sh_offset = names,
                                       .sh_addralign = 1};
        buffer_append(file, build->sections[i].name, strlen(build->sections[i].name) + 1);
    }
    sections[build->count + 1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                              .sh_offset = names,
                                              .sh_size = file->size - names,
                                              .sh_addralign = 1};
    buffer_zeros(file, -file->size % 8);
    header.e_shoff = file->size;
    header.e_shnum = (uint16_t)(build->count + 2);
    header.e_shstrndx = (uint16_t)(build->count + 1);
    buffer_append(file, sections, header.e_shnum * sizeof(*sections));
    if (!file->failed)
        memcpy(file->bytes, &header, sizeof(header));
}

static int attach_data(Elf_Data *data, const void *bytes, size_t size)
{
    if (!data)
        return -ENOEXEC;
    data->d_buf = (void *)bytes;
    data->d_size = size;
    return 0;
}

/* libelf allows its users to replace the data of a section; libdw reads through libelf. */
static int attach(const struct elf_build *build, struct elf_handle *handle)
{
    int err = 0;
    for (size_t i = 0; i < build->count && err == 0; i++) {
        Elf_Scn *section = elf_getscn(handle->elf, i + 1);
        err = attach_data(elf_rawdata(section, NULL), build->sections[i].bytes,
                          build->sections[i].size);
        if (err == 0)
            err = attach_data(elf_getdata(section, NULL), build->sections[i].bytes,
                              build->sections[i].size);
    }
    return err;
}

/* The image has headers and names alone: libelf opens the image, then gets the bytes of
 * sections. */
int elf_build_finish(const struct elf_build *build, struct elf_handle *out)
{
    struct buffer file = {0};
    write_headers(build, &file);
    if (file.failed) {
        buffer_free(&file);
        return -ENOMEM;
    }
    int err = elf_handle_adopt(out, &file, NULL);
    if (err == 0)
        err = attach(build, out);
    if (err != 0)
        elf_handle_close(out);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/image_build.h"

#include "elf/decompress.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

enum {
    METHOD_ZSTD = 2, /* ELFCOMPRESS_ZSTD, which glibc 2.36 does not name yet */
    DEBUGDATA_BYTES_MAX = 256 << 20,
};

void image_build_add(struct image_build *build, const char *name, const void *bytes, size_t size)
{
    if (build->count == IMAGE_BUILD_SECTIONS)
        return;
    if (build->file.size == 0)
        buffer_zeros(&build->file, sizeof(Elf64_Ehdr));
    buffer_zeros(&build->file, -build->file.size % 8);
    build->sections[build->count].name = name;
    build->sections[build->count].offset = build->file.size;
    build->sections[build->count++].bytes = size;
    buffer_append(&build->file, bytes, size);
}

static void append_headers(struct image_build *build)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr)};
    Elf64_Shdr sections[IMAGE_BUILD_SECTIONS + 2] = {{0}};
    struct buffer *file = &build->file;
    size_t names = file->size;
    buffer_u8(file, 0);
    for (size_t i = 0; i < build->count; i++) {
        sections[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)(file->size - names),
                                       .sh_type = SHT_PROGBITS,
                                       .sh_offset = build->sections[i].offset,
                                       .sh_size = build->sections[i].bytes,
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

int image_build_finish(struct image_build *build, struct image *out)
{
    append_headers(build);
    int err = build->file.failed ? -ENOMEM : image_adopt(out, &build->file, NULL);
    buffer_free(&build->file);
    *build = (struct image_build){0};
    return err;
}

bool image_build_is_needed(const struct image *image)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        GElf_Chdr compression;
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED) &&
            gelf_getchdr(section, &compression) && compression.ch_type == METHOD_ZSTD)
            return true;
    }
    return false;
}

static int add_section(struct image_build *build, const struct elf_file *elf,
                       const struct elf_section *section)
{
    struct buffer content = {0};
    int err = elf_read_section(elf, section, &content, NULL);
    if (err == 0)
        image_build_add(build, section->name, content.bytes, content.size);
    buffer_free(&content);
    return err == -ENOMEM ? err : 0;
}

int image_build_expanded(struct image *out, const struct image *from)
{
    struct elf_file *elf;
    int err = elf_open(&elf, from->fd, NULL);
    if (err != 0)
        return err;
    struct image_build build = {0};
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        if (strncmp(section->name, ".debug_", strlen(".debug_")) == 0)
            err = add_section(&build, elf, section);
    }
    if (err == 0)
        err = image_build_finish(&build, out);
    buffer_free(&build.file);
    elf_close(elf);
    return err;
}

int image_build_debugdata(struct image *out, const struct image *from)
{
    Elf_Scn *section = image_section(from, ".gnu_debugdata");
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return -ENOENT;
    struct buffer bytes = {0};
    int err = decompress_xz(data->d_buf, data->d_size, DEBUGDATA_BYTES_MAX, &bytes);
    if (err == 0)
        err = image_adopt(out, &bytes, NULL);
    buffer_free(&bytes);
    return err;
}

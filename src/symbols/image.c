/* SPDX-License-Identifier: MIT */
#include "symbols/image.h"

#include "base/files/foreign_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int check_elf(struct image *image, const char *path, struct error *error)
{
    if (image->elf && elf_kind(image->elf) == ELF_K_ELF)
        return 0;
    image_close(image);
    return error_set(error, -ENOEXEC, "%s is not an ELF file", path);
}

int image_open_at(struct image *image, const char *path_now, const char *path, struct error *error)
{
    *image = (struct image){.fd = -1};
    elf_version(EV_CURRENT);
    int fd = foreign_file_open(path_now, rights_reader(), NULL);
    if (fd < 0)
        return error_set(error, fd, "cannot open %s: %s", path, foreign_file_error(fd));
    image->fd = fd;
    image->path = strdup(path);
    if (!image->path) {
        image_close(image);
        return error_set(error, -ENOMEM, "out of memory");
    }
    image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
    return check_elf(image, path, error);
}

int image_open(struct image *image, const char *path, struct error *error)
{
    return image_open_at(image, path, path, error);
}

int image_adopt(struct image *image, struct buffer *bytes, struct error *error)
{
    *image = (struct image){.fd = -1, .bytes = bytes->bytes};
    elf_version(EV_CURRENT);
    size_t size = bytes->size;
    *bytes = (struct buffer){0};
    image->elf = image->bytes ? elf_memory(image->bytes, size) : NULL;
    return check_elf(image, "the image in memory", error);
}

int image_open_memory(struct image *image, const void *bytes, size_t size, struct error *error)
{
    struct buffer copy = {0};
    buffer_append(&copy, bytes, size);
    if (!copy.failed)
        return image_adopt(image, &copy, error);
    *image = (struct image){.fd = -1};
    return error_set(error, -ENOMEM, "out of memory");
}

void image_close(struct image *image)
{
    if (image->elf)
        elf_end(image->elf);
    if (image->fd >= 0)
        close(image->fd);
    free(image->path);
    free(image->bytes);
    *image = (struct image){.fd = -1};
}

void image_let_go(const struct image *image)
{
    size_t size;
    char *bytes = image->fd >= 0 && image->elf ? elf_rawfile(image->elf, &size) : NULL;
    if (bytes)
        (void)madvise(bytes, size, MADV_DONTNEED);
}

size_t image_build_id(const struct image *image, const uint8_t **id)
{
    const void *bytes = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(image->elf, &bytes);
    *id = bytes;
    return size > 0 ? (size_t)size : 0;
}

Elf_Scn *image_section(Elf *elf, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (found && strcmp(found, name) == 0)
            return section;
    }
    return NULL;
}

Elf_Scn *image_debug_section(Elf *elf, const char *name)
{
    char plain[32], compressed[32];
    snprintf(plain, sizeof(plain), ".debug_%s", name);
    snprintf(compressed, sizeof(compressed), ".zdebug_%s", name);
    return image_section(elf, plain) ?: image_section(elf, compressed);
}

bool image_is_cut(const struct image *image)
{
    GElf_Ehdr header;
    return gelf_getehdr(image->elf, &header) && header.e_shoff != 0 &&
           !elf_nextscn(image->elf, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "symbols/files/elf_handle.h"

#include "base/files/foreign_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int check_elf(struct elf_handle *handle, const char *path, struct error *error)
{
    if (handle->elf && elf_kind(handle->elf) == ELF_K_ELF)
        return 0;
    elf_handle_close(handle);
    return error_set(error, -ENOEXEC, "%s is not an ELF file", path);
}

int elf_handle_open_at(struct elf_handle *handle, const char *path_now, const char *path,
                       struct error *error)
{
    *handle = (struct elf_handle){.fd = -1};
    elf_version(EV_CURRENT);
    int fd = foreign_file_open(path_now, rights_reader(), NULL);
    if (fd < 0)
        return error_set(error, fd, "cannot open %s: %s", path, foreign_file_error(fd));
    handle->fd = fd;
    handle->path = strdup(path);
    if (!handle->path) {
        elf_handle_close(handle);
        return error_set(error, -ENOMEM, "out of memory");
    }
    handle->elf = elf_begin(handle->fd, ELF_C_READ_MMAP, NULL);
    return check_elf(handle, path, error);
}

int elf_handle_open(struct elf_handle *handle, const char *path, struct error *error)
{
    return elf_handle_open_at(handle, path, path, error);
}

int elf_handle_adopt(struct elf_handle *handle, struct buffer *bytes, struct error *error)
{
    *handle = (struct elf_handle){.fd = -1, .bytes = bytes->bytes};
    elf_version(EV_CURRENT);
    size_t size = bytes->size;
    *bytes = (struct buffer){0};
    handle->elf = handle->bytes ? elf_memory(handle->bytes, size) : NULL;
    return check_elf(handle, "the image in memory", error);
}

int elf_handle_open_memory(struct elf_handle *handle, const void *bytes, size_t size,
                           struct error *error)
{
    struct buffer copy = {0};
    buffer_append(&copy, bytes, size);
    if (!copy.failed)
        return elf_handle_adopt(handle, &copy, error);
    *handle = (struct elf_handle){.fd = -1};
    return error_set(error, -ENOMEM, "out of memory");
}

void elf_handle_close(struct elf_handle *handle)
{
    if (handle->elf)
        elf_end(handle->elf);
    if (handle->fd >= 0)
        close(handle->fd);
    free(handle->path);
    free(handle->bytes);
    *handle = (struct elf_handle){.fd = -1};
}

void elf_handle_drop_pages(const struct elf_handle *handle)
{
    size_t size;
    char *bytes = handle->fd >= 0 && handle->elf ? elf_rawfile(handle->elf, &size) : NULL;
    if (bytes)
        (void)madvise(bytes, size, MADV_DONTNEED);
}

size_t elf_handle_build_id(const struct elf_handle *handle, const uint8_t **id)
{
    const void *bytes = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(handle->elf, &bytes);
    *id = bytes;
    return size > 0 ? (size_t)size : 0;
}

Elf_Scn *elf_handle_section(Elf *elf, const char *name)
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

Elf_Scn *elf_handle_debug_section(Elf *elf, const char *name)
{
    char plain[32], compressed[32];
    snprintf(plain, sizeof(plain), ".debug_%s", name);
    snprintf(compressed, sizeof(compressed), ".zdebug_%s", name);
    return elf_handle_section(elf, plain) ?: elf_handle_section(elf, compressed);
}

bool elf_handle_is_truncated(const struct elf_handle *handle)
{
    GElf_Ehdr header;
    return gelf_getehdr(handle->elf, &header) && header.e_shoff != 0 &&
           !elf_nextscn(handle->elf, NULL);
}

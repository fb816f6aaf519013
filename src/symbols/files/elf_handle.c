/* SPDX-License-Identifier: MIT */
#include "symbols/files/elf_handle.h"

#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "base/containers/cursor.h"
#include "elf/build_id_note.h"
#include "elf/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NOTES_BYTES_MAX = 1 << 20, /* of all notes: sections may overlap */
    HEADER_BYTES = 64,         /* the larger one of both classes */
};

/* A file or an image in memory. */
struct source {
    int fd; /* -1: in memory */
    const uint8_t *bytes;
    size_t size;
};

/* A cursor over the bytes at offset, up to the end of the source or of the room. */
static struct cursor bytes_at(const struct source *source, uint64_t offset,
                              uint8_t room[HEADER_BYTES])
{
    if (source->fd >= 0) {
        ssize_t size =
            offset <= INT64_MAX ? pread(source->fd, room, HEADER_BYTES, (off_t)offset) : 0;
        return cursor_of(room, size > 0 ? (size_t)size : 0);
    }
    size_t left = offset < source->size ? source->size - (size_t)offset : 0;
    return cursor_of(left ? source->bytes + offset : room, left);
}

/* Section 0 holds the number if the header's 16 bits are too few. libelf allocates 200 bytes for
 * each section at once, before any header can be judged. */
static bool has_too_many_sections(const struct source *source)
{
    uint8_t room[HEADER_BYTES];
    struct cursor c = bytes_at(source, 0, room);
    const uint8_t *ident = cursor_bytes(&c, EI_NIDENT);
    if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return false;
    const bool is_64 = ident[EI_CLASS] == ELFCLASS64, is_swapped = ident[EI_DATA] == ELFDATA2MSB;
    c.swapped = is_swapped;
    cursor_seek(&c, is_64 ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff));
    const uint64_t table = is_64 ? cursor_u64(&c) : cursor_u32(&c);
    cursor_seek(&c, is_64 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum));
    /* e_shnum 0 with a table: the number is in sh_size of section 0 (elf(5)). */
    if (cursor_u16(&c) != 0 || c.failed || table == 0)
        return false;
    c = bytes_at(source, table, room);
    c.swapped = is_swapped;
    cursor_seek(&c, is_64 ? offsetof(Elf64_Shdr, sh_size) : offsetof(Elf32_Shdr, sh_size));
    return (is_64 ? cursor_u64(&c) : cursor_u32(&c)) > ELF_SECTIONS_LARGE_MAX;
}

static void take_notes(struct elf_handle *handle, uint64_t offset, uint64_t size,
                       uint64_t *left_bytes)
{
    size_t file_bytes;
    const char *bytes = elf_rawfile(handle->elf, &file_bytes);
    if (!bytes || size > *left_bytes || offset > file_bytes || size > file_bytes - offset)
        return;
    *left_bytes -= size;
    handle->build_id = build_id_note(bytes + offset, size, &handle->build_id_bytes);
}

/* In separate debug files, note segments have no content. */
static void find_build_id(struct elf_handle *handle)
{
    uint64_t left_bytes = NOTES_BYTES_MAX;
    Elf_Scn *section = NULL;
    size_t count = 0;
    GElf_Shdr header;
    GElf_Phdr segment;
    while (!handle->build_id && (section = elf_nextscn(handle->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
            take_notes(handle, header.sh_offset, header.sh_size, &left_bytes);
    if (elf_getphdrnum(handle->elf, &count) != 0)
        return;
    for (size_t i = 0; i < count && !handle->build_id; i++)
        if (gelf_getphdr(handle->elf, (int)i, &segment) && segment.p_type == PT_NOTE)
            take_notes(handle, segment.p_offset, segment.p_filesz, &left_bytes);
}

static int refuse_sections(struct elf_handle *handle, const char *path, struct error *error)
{
    elf_handle_close(handle);
    return error_set(error, -EFBIG, "%s has more than %d sections", path, ELF_SECTIONS_LARGE_MAX);
}

static int check_elf(struct elf_handle *handle, const char *path, struct error *error)
{
    if (handle->elf && elf_kind(handle->elf) == ELF_K_ELF) {
        find_build_id(handle);
        return 0;
    }
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
    if (has_too_many_sections(&(struct source){.fd = fd}))
        return refuse_sections(handle, path, error);
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
    if (handle->bytes && has_too_many_sections(&(struct source){-1, handle->bytes, size}))
        return refuse_sections(handle, "the image in memory", error);
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

uint64_t elf_handle_stored_bytes(const struct elf_handle *handle)
{
    struct stat status;
    size_t size = 0;
    (void)elf_rawfile(handle->elf, &size);
    return handle->fd >= 0 && fstat(handle->fd, &status) == 0 ? io_stored_bytes(&status) : size;
}

bool elf_handle_may_store(const struct elf_handle *handle, uint64_t bytes)
{
    enum { SMALL_BYTES = 64 << 20 };
    return bytes <= SMALL_BYTES || bytes <= elf_handle_stored_bytes(handle);
}

void elf_handle_drop_pages(const struct elf_handle *handle)
{
    size_t size;
    char *bytes = handle->fd >= 0 && handle->elf && !handle->keeps_pages
                      ? elf_rawfile(handle->elf, &size)
                      : NULL;
    if (bytes)
        (void)madvise(bytes, size, MADV_DONTNEED);
}

size_t elf_handle_build_id(const struct elf_handle *handle, const uint8_t **id)
{
    *id = handle->build_id;
    return handle->build_id_bytes;
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

static bool is_in_file(const GElf_Shdr *section, size_t file_bytes)
{
    return section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= file_bytes &&
            section->sh_size <= file_bytes - section->sh_offset);
}

/* Without any section despite a section table, the table itself is cut off. */
bool elf_handle_is_truncated(const struct elf_handle *handle)
{
    size_t file_bytes = 0, sections = 0;
    Elf_Scn *section = NULL;
    GElf_Ehdr header;
    GElf_Shdr section_header;
    bool is_whole = true;
    (void)elf_rawfile(handle->elf, &file_bytes);
    for (; is_whole && (section = elf_nextscn(handle->elf, section)); sections++)
        is_whole =
            !gelf_getshdr(section, &section_header) || is_in_file(&section_header, file_bytes);
    return !is_whole ||
           (sections == 0 && gelf_getehdr(handle->elf, &header) && header.e_shoff != 0);
}

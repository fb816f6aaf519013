/* SPDX-License-Identifier: MIT */
#include "elf/elf_file.h"

#include "base/budget.h"
#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/files/io.h"
#include "elf/decompress.h"
#include "elf/elf_internal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Of a section, stored or expanded: a bound for the memory that a foreign file can cost. */
#define CONTENT_BYTES_MAX (UINT64_C(1) << 30)

/* ELFCOMPRESS_ZSTD, not defined by glibc 2.36. */
enum { METHOD_ZSTD = 2 };

int elf_read_at(const struct elf_file *elf, uint64_t offset, void *out, size_t size)
{
    if (offset > elf->size || size > elf->size - offset)
        return -ENODATA;
    if (elf->fd >= 0)
        return io_pread(elf->fd, out, size, offset);
    memcpy(out, elf->image.bytes + offset, size);
    return 0;
}

int elf_append_at(const struct elf_file *elf, uint64_t offset, uint64_t size, struct buffer *out)
{
    if (offset > elf->size || size > elf->size - offset)
        return -ENODATA;
    if (size > CONTENT_BYTES_MAX)
        return -EFBIG;
    if (size == 0)
        return 0;
    size_t before = out->size;
    size_t need;
    if (__builtin_add_overflow(before, size, &need) ||
        array_reserve((void **)&out->bytes, &out->capacity, need, 1) != 0)
        return -ENOMEM;
    int err = elf_read_at(elf, offset, out->bytes + before, size);
    if (err == 0)
        out->size = need;
    return err;
}

/* Elf64_Chdr of elf.h, ahead of the compressed bytes. */
int elf_read_compression(struct cursor *c, uint32_t *method, uint64_t *bytes)
{
    *method = cursor_u32(c);
    cursor_skip(c, 4); /* ch_reserved */
    *bytes = cursor_u64(c);
    cursor_skip(c, 8); /* ch_addralign */
    return c->failed || *bytes > CONTENT_BYTES_MAX ? -EBADMSG : 0;
}

static int expand_section(const struct buffer *stored, struct buffer *out, struct error *error)
{
    struct cursor c = cursor_of(stored->bytes, stored->size);
    uint32_t method;
    uint64_t bytes;
    int err = elf_read_compression(&c, &method, &bytes);
    if (err == 0 && method == ELFCOMPRESS_ZLIB)
        err = decompress_zlib(c.bytes + c.at, cursor_left(&c), bytes, out);
    else if (err == 0 && method == METHOD_ZSTD)
        err = decompress_zstd(c.bytes + c.at, cursor_left(&c), bytes, out);
    else if (err == 0)
        err = -ENOTSUP;
    if (err == -ENOTSUP)
        return error_set(error, err, "compressed with unsupported method %u", method);
    if (err == -ENOMEM)
        return error_set(error, err, "out of memory");
    if (err == -EFBIG)
        return error_set(error, err, "expands to more than the limit; raise the limit with %s=SIZE",
                         budget_option(BUDGET_SECTION_BYTES));
    return err ? error_set(error, err, "malformed compressed section") : 0;
}

int elf_read_section(const struct elf_file *elf, const struct elf_section *section,
                     struct buffer *out, struct error *error)
{
    if (section->type == SHT_NOBITS)
        return error_set(error, -ENODATA, "section %s is not in the file", section->name);
    bool compressed = section->flags & SHF_COMPRESSED;
    struct buffer stored = {0};
    int err = elf_append_at(elf, section->offset, section->bytes, compressed ? &stored : out);
    if (err != 0)
        err = error_set(error, err, "cannot read section %s: %s", section->name, strerror(-err));
    else if (compressed)
        err = expand_section(&stored, out, error);
    buffer_free(&stored);
    return err;
}

uint64_t elf_section_memory(const struct elf_file *elf, const struct elf_section *section)
{
    uint8_t header[sizeof(Elf64_Chdr)];
    struct cursor c = cursor_of(header, sizeof(header));
    uint32_t method;
    uint64_t bytes, all;
    if (section->type == SHT_NOBITS)
        return 0;
    if (!(section->flags & SHF_COMPRESSED) ||
        elf_read_at(elf, section->offset, header, sizeof(header)) != 0 ||
        elf_read_compression(&c, &method, &bytes) != 0)
        return section->bytes;
    return __builtin_add_overflow(section->bytes, bytes, &all) ? UINT64_MAX : all;
}

int elf_read_section_part(const struct elf_file *elf, const struct elf_section *section,
                          uint64_t offset, uint64_t size, struct buffer *out)
{
    if (section->flags & SHF_COMPRESSED || section->type == SHT_NOBITS)
        return -ENOTSUP;
    uint64_t start;
    if (offset > section->bytes || size > section->bytes - offset ||
        __builtin_add_overflow(section->offset, offset, &start))
        return -ENODATA;
    return elf_append_at(elf, start, size, out);
}

/* Only within the file's part of a segment: memory behind it (.bss) has no bytes. */
int elf_read_svma(const struct elf_file *elf, uint64_t svma, void *out, size_t size)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        uint64_t inside = svma - segment->svma;
        uint64_t offset;
        if (segment->type == PT_LOAD && svma >= segment->svma && inside <= segment->file_bytes &&
            size <= segment->file_bytes - inside &&
            !__builtin_add_overflow(segment->offset, inside, &offset) &&
            elf_read_at(elf, offset, out, size) == 0)
            return 0;
    }
    return -ENOENT;
}

/* The kernel maps whole pages: up to a page before the segment's first byte. */
static bool is_just_before(const struct elf_segment *segment, uint64_t file_offset)
{
    if (file_offset >= segment->offset)
        return false;
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return file_offset >= segment->offset - segment->offset % page_bytes;
}

/* Of the segment with the first mapped byte. A segment that begins later in the mapped page is the
 * second choice: the byte may belong to the segment before. */
int elf_segments_bias(const struct elf_segment *segments, size_t count, uint64_t start_avma,
                      uint64_t file_offset, uint64_t *bias)
{
    const struct elf_segment *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct elf_segment *segment = &segments[i];
        if (segment->type != PT_LOAD || !(segment->flags & PF_X))
            continue;
        bool holds =
            file_offset >= segment->offset && file_offset - segment->offset < segment->file_bytes;
        if (holds || (!found && is_just_before(segment, file_offset)))
            found = segment;
        if (holds)
            break;
    }
    if (!found)
        return -ENOENT;
    *bias = start_avma - (found->svma + (file_offset - found->offset));
    return 0;
}

int elf_load_bias(const struct elf_file *elf, uint64_t start_avma, uint64_t file_offset,
                  uint64_t *bias)
{
    return elf_segments_bias(elf->segments, elf->segment_count, start_avma, file_offset, bias);
}

const struct elf_section *elf_find_section(const struct elf_file *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0)
            return &elf->sections[i];
    return NULL;
}

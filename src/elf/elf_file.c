/* SPDX-License-Identifier: MIT */
/*
 * The order of reading. Each count and offset is checked against the size of the file; tables that
 * do not fit are absent, as in files cut off by a full disk:
 *
 *     Elf64_Ehdr ─▶ section 0, for counts beyond 16 bits ─▶ segments ─▶ sections ─▶ names ─▶ notes
 *
 * Fields are read by the cursor in the order of elf(5); nothing points into the file.
 */
#include "elf/elf_file.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/sandbox/confine.h"
#include "elf/elf_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of programs and libraries, which have a few dozen of each: a recording reads these files outside
 * of any sandbox, and the work grows with the number of overlapping entries. */
enum { SEGMENTS_MAX = 1024, SECTIONS_MAX = 1 << 16, NAMES_BYTES_MAX = 4 << 20 };

/* Table locations from the ELF header. */
struct tables {
    bool is_large; /* a core or an object file: more entries */
    uint64_t segments_offset, sections_offset;
    uint16_t segment_bytes, section_bytes;
    uint64_t segment_count, section_count;
    uint32_t names_index;
};

static int not_elf(struct error *error, const char *what)
{
    return error_set(error, -ENOEXEC, "%s", what);
}

static int read_header(struct elf_file *elf, struct tables *tables, struct error *error)
{
    uint8_t bytes[sizeof(Elf64_Ehdr)];
    if (elf_read_at(elf, 0, bytes, sizeof(bytes)) != 0 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return not_elf(error, "not an ELF file");
    if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB)
        return not_elf(error, "not a 64-bit little-endian ELF file");

    struct cursor c = cursor_of(bytes, sizeof(bytes));
    cursor_skip(&c, EI_NIDENT);
    cursor_skip(&c, 2); /* e_type */
    elf->machine = cursor_u16(&c);
    cursor_skip(&c, 4); /* e_version */
    elf->entry_svma = cursor_u64(&c);
    tables->segments_offset = cursor_u64(&c);
    tables->sections_offset = cursor_u64(&c);
    cursor_skip(&c, 4 + 2); /* e_flags, e_ehsize */
    tables->segment_bytes = cursor_u16(&c);
    tables->segment_count = cursor_u16(&c);
    tables->section_bytes = cursor_u16(&c);
    tables->section_count = cursor_u16(&c);
    tables->names_index = cursor_u16(&c);
    return 0;
}

/* Section 0 holds counts too large for the header's 16 bits. */
static void read_large_counts(const struct elf_file *elf, struct tables *tables)
{
    uint8_t bytes[sizeof(Elf64_Shdr)];
    if (tables->sections_offset == 0 ||
        elf_read_at(elf, tables->sections_offset, bytes, sizeof(bytes)) != 0)
        return;
    Elf64_Shdr first;
    memcpy(&first, bytes, sizeof(first));
    if (tables->section_count == 0)
        tables->section_count = first.sh_size;
    if (tables->names_index == SHN_XINDEX)
        tables->names_index = first.sh_link;
    if (tables->segment_count == PN_XNUM)
        tables->segment_count = first.sh_info;
}

/* Reads a table; empty (and 0) if the file, possibly truncated, does not contain the whole
 * table. */
static int read_table(const struct elf_file *elf, uint64_t offset, uint64_t count,
                      size_t entry_bytes, struct buffer *out)
{
    if (offset == 0 || count > elf->size / entry_bytes)
        return 0;
    int err = elf_append_at(elf, offset, count * entry_bytes, out);
    return err == -ENODATA || err == -EFBIG ? 0 : err;
}

static int read_segments(struct elf_file *elf, const struct tables *tables)
{
    struct buffer table = {0};
    int err = 0;
    if (tables->segment_bytes == sizeof(Elf64_Phdr) &&
        (tables->segment_count <= SEGMENTS_MAX || tables->is_large))
        err = read_table(elf, tables->segments_offset, tables->segment_count, sizeof(Elf64_Phdr),
                         &table);
    struct cursor c = cursor_of(table.bytes, table.size);
    while (err == 0 && cursor_left(&c)) {
        struct elf_segment *segment =
            ARRAY_PUSH(elf->segments, elf->segment_count, elf->segment_capacity);
        if (!segment) {
            err = -ENOMEM;
            break;
        }
        segment->type = cursor_u32(&c);
        segment->flags = cursor_u32(&c);
        segment->offset = cursor_u64(&c);
        segment->svma = cursor_u64(&c);
        cursor_skip(&c, 8); /* p_paddr */
        segment->file_bytes = cursor_u64(&c);
        segment->memory_bytes = cursor_u64(&c);
        cursor_skip(&c, 8); /* p_align */
    }
    buffer_free(&table);
    return err;
}

/* Stores the name's offset in *name; names are read after all sections. */
static void parse_section(struct cursor *c, struct elf_section *section, uint32_t *name)
{
    *name = cursor_u32(c);
    section->type = cursor_u32(c);
    section->flags = cursor_u64(c);
    section->svma = cursor_u64(c);
    section->offset = cursor_u64(c);
    section->bytes = cursor_u64(c);
    section->link = cursor_u32(c);
    cursor_skip(c, 4 + 8); /* sh_info, sh_addralign */
    section->entry_bytes = cursor_u64(c);
}

static int read_names(struct elf_file *elf, const struct tables *tables)
{
    const struct elf_section *section =
        tables->names_index < elf->section_count ? &elf->sections[tables->names_index] : NULL;
    int err = 0;
    if (section && section->type == SHT_STRTAB &&
        (section->bytes <= NAMES_BYTES_MAX || tables->is_large))
        err = elf_append_at(elf, section->offset, section->bytes, &elf->names);
    buffer_u8(&elf->names, 0);
    if (elf->names.failed)
        return -ENOMEM;
    return err == -ENODATA || err == -EFBIG ? 0 : err;
}

static int read_sections(struct elf_file *elf, const struct tables *tables)
{
    struct buffer table = {0};
    uint32_t *names = NULL;
    int err = 0;
    if (tables->section_bytes == sizeof(Elf64_Shdr) &&
        (tables->section_count <= (tables->is_large ? ELF_SECTIONS_LARGE_MAX : SECTIONS_MAX)))
        err = read_table(elf, tables->sections_offset, tables->section_count, sizeof(Elf64_Shdr),
                         &table);
    size_t count = table.size / sizeof(Elf64_Shdr);
    if (err != 0 || count == 0)
        goto out;
    names = calloc(count, sizeof(*names));
    if (!names || array_reserve((void **)&elf->sections, &elf->section_capacity, count,
                                sizeof(*elf->sections)) != 0) {
        err = -ENOMEM;
        goto out;
    }
    struct cursor c = cursor_of(table.bytes, table.size);
    for (size_t i = 0; i < count; i++)
        parse_section(&c, &elf->sections[i], &names[i]);
    elf->section_count = count;
    err = read_names(elf, tables);
    for (size_t i = 0; i < count; i++)
        elf->sections[i].name = names[i] < elf->names.size && !elf->names.failed
                                    ? (const char *)elf->names.bytes + names[i]
                                    : "";
out:
    free(names);
    buffer_free(&table);
    return err;
}

static int read_all(struct elf_file *elf, bool is_large, struct error *error)
{
    struct tables tables = {.is_large = is_large};
    int err = read_header(elf, &tables, error);
    if (err != 0)
        return err;
    read_large_counts(elf, &tables);
    err = read_segments(elf, &tables);
    if (err == 0)
        err = read_sections(elf, &tables);
    if (err != 0)
        return error_set(error, err, "cannot read the ELF headers: %s", strerror(-err));
    return 0;
}

static int open_file(struct elf_file **out, int fd, bool is_large, struct error *error)
{
    *out = NULL;
    struct elf_file *elf = calloc(1, sizeof(*elf));
    if (!elf)
        return error_set(error, -ENOMEM, "out of memory");
    struct stat status;
    int err;
    elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, CONFINE_ANSWER_FD + 1);
    if (elf->fd < 0 || fstat(elf->fd, &status) != 0) {
        err = error_set(error, -errno, "cannot read the file: %s", strerror(errno));
        goto out;
    }
    elf->size = status.st_size > 0 ? (uint64_t)status.st_size : 0;
    err = read_all(elf, is_large, error);
    if (err == 0)
        elf_read_notes(elf);
out:
    if (err != 0)
        elf_close(elf);
    else
        *out = elf;
    return err;
}

int elf_open(struct elf_file **out, int fd, struct error *error)
{
    return open_file(out, fd, false, error);
}

int elf_open_large(struct elf_file **out, int fd, struct error *error)
{
    return open_file(out, fd, true, error);
}

/* In a memory image, loaded parts are at their addresses; file offsets do not apply. */
static void use_memory_offsets(struct elf_file *elf)
{
    uint64_t first_svma = 0;
    for (size_t i = elf->segment_count; i-- > 0;)
        if (elf->segments[i].type == PT_LOAD)
            first_svma = elf->segments[i].svma;
    for (size_t i = 0; i < elf->segment_count; i++)
        elf->segments[i].offset = elf->segments[i].svma - first_svma;
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].flags & SHF_ALLOC)
            elf->sections[i].offset = elf->sections[i].svma - first_svma;
}

int elf_open_memory(struct elf_file **out, const void *bytes, size_t size, struct error *error)
{
    *out = NULL;
    struct elf_file *elf = calloc(1, sizeof(*elf));
    if (!elf)
        return error_set(error, -ENOMEM, "out of memory");
    elf->fd = -1;
    elf->size = size;
    buffer_append(&elf->image, bytes, size);
    int err = elf->image.failed ? error_set(error, -ENOMEM, "out of memory")
                                : read_all(elf, false, error);
    if (err != 0) {
        elf_close(elf);
        return err;
    }
    use_memory_offsets(elf);
    elf_read_notes(elf);
    *out = elf;
    return 0;
}

static void free_sections(struct elf_file *elf)
{
    buffer_free(&elf->names);
    free(elf->sections);
    elf->sections = NULL;
    elf->section_count = elf->section_capacity = 0;
}

/* Whole pages, as the kernel maps segments. */
static struct elf_extent find_extent(const struct elf_file *elf)
{
    enum { PAGE_BYTES = 4096 };
    struct elf_extent extent = {0};
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        uint64_t end_svma, rest = segment->svma % PAGE_BYTES;
        if (segment->type != PT_LOAD || rest > segment->offset ||
            __builtin_add_overflow(segment->svma, segment->memory_bytes, &end_svma))
            continue;
        if (extent.end_svma == 0) {
            extent.start_svma = segment->svma - rest;
            extent.offset = segment->offset - rest;
        }
        extent.end_svma = end_svma > extent.end_svma ? end_svma : extent.end_svma;
    }
    return extent;
}

const struct elf_extent *elf_extent(const struct elf_file *elf)
{
    return &elf->extent;
}

static bool is_code(const struct elf_segment *segment)
{
    return segment->type == PT_LOAD && segment->flags & PF_X;
}

static void keep_code_segments(struct elf_file *elf)
{
    size_t kept = 0;
    for (size_t i = 0; i < elf->segment_count; i++)
        if (is_code(&elf->segments[i]))
            elf->segments[kept++] = elf->segments[i];
    struct elf_segment *fewer = kept ? realloc(elf->segments, kept * sizeof(*elf->segments)) : NULL;
    if (kept == 0)
        free(elf->segments);
    if (kept == 0 || fewer) {
        elf->segments = fewer;
        elf->segment_capacity = kept;
    }
    elf->segment_count = kept;
}

void elf_release_file(struct elf_file *elf)
{
    if (elf->fd >= 0)
        close(elf->fd);
    elf->fd = -1;
    free_sections(elf);
    buffer_free(&elf->interpreter);
    elf->extent = find_extent(elf);
    keep_code_segments(elf);
}

size_t elf_released_bytes(const struct elf_file *elf)
{
    size_t kept = 0;
    for (size_t i = 0; i < elf->segment_count; i++)
        kept += is_code(&elf->segments[i]);
    return sizeof(*elf) + elf->image.capacity + kept * sizeof(*elf->segments);
}

void elf_close(struct elf_file *elf)
{
    if (!elf)
        return;
    if (elf->fd >= 0)
        close(elf->fd);
    free_sections(elf);
    buffer_free(&elf->image);
    buffer_free(&elf->interpreter);
    free(elf->segments);
    free(elf);
}

uint16_t elf_machine(const struct elf_file *elf)
{
    return elf->machine;
}

uint64_t elf_entry_svma(const struct elf_file *elf)
{
    return elf->entry_svma;
}

size_t elf_segment_count(const struct elf_file *elf)
{
    return elf->segment_count;
}

const struct elf_segment *elf_segment(const struct elf_file *elf, size_t index)
{
    return &elf->segments[index];
}

size_t elf_section_count(const struct elf_file *elf)
{
    return elf->section_count;
}

const struct elf_section *elf_section(const struct elf_file *elf, size_t index)
{
    return &elf->sections[index];
}

/* SPDX-License-Identifier: MIT */
#include "perfdata/header.h"

#include "base/files/io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct section cursor_section(struct cursor *c)
{
    struct section section = {.offset = cursor_u64(c)};
    section.size = cursor_u64(c);
    return section;
}

bool section_is_inside(struct section section, uint64_t file_bytes)
{
    return section.offset <= file_bytes && section.size <= file_bytes - section.offset;
}

bool file_header_has(const struct file_header *header, unsigned feature)
{
    return feature < HEADER_FEATURE_BITS && (header->features[feature / 64] >> feature % 64 & 1);
}

void file_header_set(struct file_header *header, unsigned feature)
{
    if (feature < HEADER_FEATURE_BITS)
        header->features[feature / 64] |= UINT64_C(1) << feature % 64;
}

/* The magic is eight letters, or the same letters backwards when the file was written on a host of
 * the other byte order: "PERFILE2" is a number there. */
static const char magic[] = "PERFILE2", reversed[] = "2ELIFREP", magic_before[] = "PERFFILE";

int file_magic_check(const void *bytes, size_t size, const char *path, struct error *error)
{
    if (size < FILE_MAGIC_BYTES)
        return error_set(error, -EINVAL, "%s is %s: not a perf.data file", path,
                         size ? "too short" : "empty");
    if (memcmp(bytes, magic_before, FILE_MAGIC_BYTES) == 0)
        return error_set(error, -EINVAL,
                         "%s is a perf.data file of version 1, from before Linux 2.6.37", path);
    if (memcmp(bytes, magic, FILE_MAGIC_BYTES) != 0 &&
        memcmp(bytes, reversed, FILE_MAGIC_BYTES) != 0)
        return error_set(error, -EINVAL,
                         "%s is not a perf.data file: give a file from rec or perf record", path);
    return 0;
}

static void read_magic(struct file_header *header, struct cursor *c)
{
    bool is_host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    header->swapped = memcmp(cursor_bytes(c, FILE_MAGIC_BYTES), magic, FILE_MAGIC_BYTES) != 0;
    header->big_endian = header->swapped != is_host_big;
    c->swapped = header->swapped;
}

/* Feature bits are an array of unsigned long: on 32-bit big-endian hosts the words are half the
 * size. Every perf version writes the host name (bit 3), so bit 3 reveals the word size. */
static void read_features(struct file_header *header, struct cursor *c)
{
    for (size_t i = 0; i < HEADER_FEATURE_BITS / 64; i++)
        header->features[i] = cursor_u64(c);
    bool has_name_elsewhere = header->features[0] >> (32 + FEATURE_HOSTNAME) & 1;
    if (!header->big_endian || file_header_has(header, FEATURE_HOSTNAME) || !has_name_elsewhere)
        return;
    for (size_t i = 0; i < HEADER_FEATURE_BITS / 64; i++)
        header->features[i] = header->features[i] << 32 | header->features[i] >> 32;
}

static int read_fields(struct file_header *header, struct cursor *c, const char *path,
                       struct error *error)
{
    uint64_t header_bytes = cursor_u64(c);
    if (header_bytes == PIPE_HEADER_BYTES && !c->failed) {
        header->is_pipe = true;
        header->data = (struct section){c->at, header->file_bytes - c->at};
        return 0;
    }
    header->attr_entry_bytes = cursor_u64(c);
    header->attrs = cursor_section(c);
    header->data = cursor_section(c);
    cursor_section(c); /* event types: unused since Linux 3.1 */
    if (header_bytes != HEADER_AT_FEATURES)
        read_features(header, c);
    if (header_bytes < HEADER_BYTES && header_bytes != HEADER_AT_FEATURES)
        return error_set(error, -EINVAL,
                         "%s has a file header of %llu bytes: not a perf.data file, "
                         "or damaged",
                         path, (unsigned long long)header_bytes);
    if (c->failed || !section_is_inside(header->attrs, header->file_bytes) ||
        header->data.offset > header->file_bytes)
        return error_set(error, -EBADMSG, "%s is truncated inside the header", path);
    return 0;
}

int file_header_read(struct file_header *header, int fd, const char *path, struct error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return error_set(error, -errno, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, -EINVAL, "%s is not a regular file", path);
    *header = (struct file_header){.file_bytes = (uint64_t)status.st_size};
    uint8_t bytes[HEADER_BYTES];
    size_t size = header->file_bytes < sizeof(bytes) ? (size_t)header->file_bytes : sizeof(bytes);
    int err = io_pread(fd, bytes, size, 0);
    if (err)
        return error_set(error, err, "cannot read %s: %s", path, strerror(-err));
    err = file_magic_check(bytes, size, path, error);
    if (err)
        return err;
    struct cursor c = cursor_of(bytes, size);
    read_magic(header, &c);
    return read_fields(header, &c, path, error);
}

int feature_table_read(const struct file_header *header, int fd,
                       struct section sections[HEADER_FEATURE_BITS])
{
    uint8_t bytes[HEADER_FEATURE_BITS * SECTION_BYTES];
    memset(sections, 0, HEADER_FEATURE_BITS * sizeof(*sections));
    struct section table = {0};
    for (size_t i = 0; i < HEADER_FEATURE_BITS / 64; i++)
        table.size += SECTION_BYTES * (unsigned)__builtin_popcountll(header->features[i]);
    if (__builtin_add_overflow(header->data.offset, header->data.size, &table.offset) ||
        !section_is_inside(table, header->file_bytes))
        return -EBADMSG;
    int err = io_pread(fd, bytes, (size_t)table.size, table.offset);
    if (err)
        return err;
    struct cursor c = cursor_of(bytes, (size_t)table.size);
    c.swapped = header->swapped;
    for (unsigned bit = 0; bit < HEADER_FEATURE_BITS; bit++) {
        if (!file_header_has(header, bit))
            continue;
        sections[bit] = cursor_section(&c);
        if (!section_is_inside(sections[bit], header->file_bytes))
            return -EBADMSG;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Adds a feature to a finished file. The table follows the records and cannot move, so a larger
 * table covers the first payloads:
 *
 *     records │ table │ payloads …                      before
 *     records │ table  new│ payloads … │ moved │ added  after: `moved` was covered by `new`
 *
 * Order of writes, for crash safety: first the payloads, appended at the end of the file; then the
 * table entries; then the feature bits. Until the last step the old bits select the old entries,
 * with unchanged payloads. If a new entry shifts old entries, the bits are cleared first; a
 * crash in between leaves a file without features.
 */
#include "base/files/io.h"
#include "perfdata/header.h"
#include "perfdata/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

struct replacement {
    int fd;
    struct file_header header;
    struct section sections[HEADER_FEATURE_BITS];
    uint64_t file_end; /* where the next payload is appended */
    uint64_t table_at;
    unsigned entries; /* in the old table */
};

static unsigned count_entries(const struct file_header *header, unsigned below)
{
    unsigned count = 0;
    for (unsigned bit = 0; bit < below; bit++)
        count += file_header_has(header, bit);
    return count;
}

/* Refuses files in the other byte order or without a known end. */
static int read_file(struct replacement *r, struct error *error)
{
    int err = file_header_read(&r->header, r->fd, "the recording", error);
    if (err)
        return err;
    struct section data = r->header.data;
    if (r->header.swapped)
        return error_set(error, -ENOTSUP, "cannot add to a recording in the other byte order");
    if (data.size == 0 || !section_is_inside(data, r->header.file_bytes) ||
        r->header.attrs.offset >= data.offset)
        return error_set(error, -EBADMSG, "cannot add to a truncated recording");
    err = feature_table_read(&r->header, r->fd, r->sections);
    if (err)
        return error_set(error, err, "cannot add to a recording with a damaged end");
    r->entries = count_entries(&r->header, HEADER_FEATURE_BITS);
    r->table_at = data.offset + data.size;
    r->file_end = r->table_at + SECTION_BYTES * ((uint64_t)r->entries + 1);
    if (r->file_end < r->header.file_bytes)
        r->file_end = r->header.file_bytes;
    return 0;
}

static int append(struct replacement *r, const void *bytes, size_t size, struct section *placed)
{
    r->file_end = (r->file_end + 7) & ~UINT64_C(7);
    *placed = (struct section){r->file_end, size};
    r->file_end += size;
    return io_pwrite(r->fd, bytes, size, placed->offset);
}

static int read_section(const struct replacement *r, struct section section, uint8_t **bytes)
{
    *bytes = malloc((size_t)section.size + 1);
    return *bytes ? io_pread(r->fd, *bytes, (size_t)section.size, section.offset) : -ENOMEM;
}

static bool is_stored(const struct replacement *r, unsigned bit, const void *bytes, size_t size)
{
    uint8_t *stored = NULL;
    bool same = file_header_has(&r->header, bit) && r->sections[bit].size == size &&
                read_section(r, r->sections[bit], &stored) == 0 && memcmp(stored, bytes, size) == 0;
    free(stored);
    return same;
}

/* Copies the payloads under the larger table to the end. */
static int move_covered(struct replacement *r)
{
    uint64_t table_end = r->table_at + SECTION_BYTES * ((uint64_t)r->entries + 1);
    int err = 0;
    for (unsigned bit = 0; bit < HEADER_FEATURE_BITS && err == 0; bit++) {
        struct section *section = &r->sections[bit];
        bool is_covered = section->size && section->offset < table_end;
        if (!file_header_has(&r->header, bit) || !is_covered)
            continue;
        uint8_t *bytes = NULL;
        err = read_section(r, *section, &bytes);
        if (err == 0)
            err = append(r, bytes, (size_t)section->size, section);
        free(bytes);
    }
    return err;
}

static int write_entry(const struct replacement *r, unsigned bit)
{
    uint64_t at = r->table_at + (uint64_t)SECTION_BYTES * count_entries(&r->header, bit);
    return io_pwrite(r->fd, &r->sections[bit], SECTION_BYTES, at);
}

static int write_table(const struct replacement *r)
{
    struct section entries[HEADER_FEATURE_BITS];
    unsigned count = 0;
    for (unsigned bit = 0; bit < HEADER_FEATURE_BITS; bit++)
        if (file_header_has(&r->header, bit))
            entries[count++] = r->sections[bit];
    return io_pwrite(r->fd, entries, (size_t)SECTION_BYTES * count, r->table_at);
}

static int grow_table(struct replacement *r, unsigned bit)
{
    static const uint64_t none[HEADER_FEATURE_BITS / 64];
    int err = move_covered(r);
    if (err)
        return err;
    r->header.features[bit / 64] |= UINT64_C(1) << bit % 64;
    if (count_entries(&r->header, bit) < r->entries)
        err = io_pwrite(r->fd, none, sizeof(none), HEADER_AT_FEATURES);
    if (err == 0)
        err = write_table(r);
    if (err)
        return err;
    return io_pwrite(r->fd, r->header.features, sizeof(r->header.features), HEADER_AT_FEATURES);
}

static int replace(struct replacement *r, unsigned bit, const void *bytes, size_t size,
                   struct error *error)
{
    int err = read_file(r, error);
    if (err || is_stored(r, bit, bytes, size))
        return err;
    bool has_entry = file_header_has(&r->header, bit);
    err = append(r, bytes, size, &r->sections[bit]);
    if (err == 0)
        err = has_entry ? write_entry(r, bit) : grow_table(r, bit);
    return err ? error_set(error, err, "cannot add to the recording: %s", strerror(-err)) : 0;
}

int perfdata_replace_feature(int fd, unsigned bit, const void *bytes, size_t size,
                             struct error *error)
{
    if (bit < FEATURE_PRIVATE_MIN || bit >= HEADER_FEATURE_BITS)
        return error_set(error, -EINVAL, "feature %u is outside of the private range", bit);
    if (size == 0)
        return error_set(error, -EINVAL, "feature %u would be empty", bit);
    struct replacement *r = calloc(1, sizeof(*r));
    if (!r)
        return error_set(error, -ENOMEM, "cannot add to the recording: out of memory");
    r->fd = fd;
    flock(fd, LOCK_EX); /* two at a time would append to the same place */
    int err = replace(r, bit, bytes, size, error);
    flock(fd, LOCK_UN);
    free(r);
    return err;
}

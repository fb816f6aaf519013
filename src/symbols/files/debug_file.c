/* SPDX-License-Identifier: MIT */
#include "symbols/files/debug_file.h"

#include "symbols/files/debug_path.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static bool has_build_id(const struct elf_handle *handle, const uint8_t *id, size_t id_bytes)
{
    const uint8_t *found;
    size_t found_bytes = elf_handle_build_id(handle, &found);
    return found_bytes == id_bytes && memcmp(found, id, id_bytes) == 0;
}

int debug_file_open_if_same(struct elf_handle *out, const char *path, const uint8_t *id,
                            size_t id_bytes)
{
    int err = elf_handle_open(out, path, NULL);
    if (err == 0 && !has_build_id(out, id, id_bytes)) {
        elf_handle_close(out);
        err = -ENOENT;
    }
    return err;
}

static int open_by_build_id(struct elf_handle *out, const uint8_t *id, size_t id_bytes,
                            const char *debug_directory)
{
    struct buffer path = {0};
    int err = -ENOENT;
    if (debug_path_of_build_id(&path, debug_directory, id, id_bytes))
        err = debug_file_open_if_same(out, (char *)path.bytes, id, id_bytes);
    buffer_free(&path);
    return err;
}

int debug_file_open_fetched(struct elf_handle *out, const struct symbols_config *config,
                            const uint8_t *id, size_t id_bytes)
{
    const char *path = config->find_fetched
                           ? config->find_fetched(config->find_fetched_context, id, id_bytes)
                           : NULL;
    return path ? debug_file_open_if_same(out, path, id, id_bytes) : -ENOENT;
}

/* .gnu_debuglink holds the CRC of zlib (GDB manual, "Separate Debug Files"). */
static bool has_crc(const struct elf_handle *handle, uint32_t needed)
{
    unsigned char chunk[16384];
    uLong crc = crc32(0, NULL, 0);
    off_t offset = 0;
    ssize_t n;
    while ((n = pread(handle->fd, chunk, sizeof(chunk), offset)) > 0) {
        crc = crc32(crc, chunk, (uInt)n);
        offset += n;
    }
    return n == 0 && crc == needed;
}

static int open_linked(struct elf_handle *out, const char *path, uint32_t crc)
{
    int err = elf_handle_open(out, path, NULL);
    if (err == 0 && !has_crc(out, crc)) {
        elf_handle_close(out);
        err = -ENOENT;
    }
    return err;
}

static int open_by_debuglink(struct elf_handle *out, const struct elf_handle *handle,
                             const char *path, const char *debug_directory)
{
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(handle->elf, &crc);
    struct buffer place = {0};
    int err = -ENOENT;
    for (int i = 0; link && err != 0 && i < DEBUGLINK_PLACES; i++)
        if (debug_path_of_debuglink(&place, i, link, path, debug_directory))
            err = open_linked(out, (char *)place.bytes, crc);
    buffer_free(&place);
    return err;
}

/* The build-id first: a comparison of 20 bytes, where .gnu_debuglink takes a checksum of the
 * file. */
int debug_file_open(struct elf_handle *out, const struct elf_handle *handle, const char *path,
                    const char *debug_directory)
{
    const uint8_t *id;
    size_t id_bytes = elf_handle_build_id(handle, &id);
    int err = open_by_build_id(out, id, id_bytes, debug_directory);
    return err == 0 ? 0 : open_by_debuglink(out, handle, path, debug_directory);
}

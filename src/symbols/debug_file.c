/* SPDX-License-Identifier: MIT */
#include "symbols/debug_file.h"

#include "symbols/debug_path.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static bool has_build_id(const struct image *image, const uint8_t *id, size_t id_bytes)
{
    const uint8_t *found;
    size_t found_bytes = image_build_id(image, &found);
    return found_bytes == id_bytes && memcmp(found, id, id_bytes) == 0;
}

int debug_file_open_if_same(struct image *out, const char *path, const uint8_t *id, size_t id_bytes)
{
    int err = image_open(out, path, NULL);
    if (err == 0 && !has_build_id(out, id, id_bytes)) {
        image_close(out);
        err = -ENOENT;
    }
    return err;
}

static int open_by_build_id(struct image *out, const uint8_t *id, size_t id_bytes,
                            const char *debug_directory)
{
    struct buffer path = {0};
    int err = -ENOENT;
    if (debug_path_of_build_id(&path, debug_directory, id, id_bytes))
        err = debug_file_open_if_same(out, (char *)path.bytes, id, id_bytes);
    buffer_free(&path);
    return err;
}

int debug_file_open_fetched(struct image *out, const struct symbols_config *config,
                            const uint8_t *id, size_t id_bytes)
{
    const char *path = config->find_fetched
                           ? config->find_fetched(config->find_fetched_context, id, id_bytes)
                           : NULL;
    return path ? debug_file_open_if_same(out, path, id, id_bytes) : -ENOENT;
}

static bool has_crc(const struct image *image, uint32_t wanted)
{
    unsigned char chunk[16384];
    uLong crc = crc32(0, NULL, 0);
    off_t offset = 0;
    ssize_t n;
    while ((n = pread(image->fd, chunk, sizeof(chunk), offset)) > 0) {
        crc = crc32(crc, chunk, (uInt)n);
        offset += n;
    }
    return n == 0 && crc == wanted;
}

static int open_linked(struct image *out, const char *path, uint32_t crc)
{
    int err = image_open(out, path, NULL);
    if (err == 0 && !has_crc(out, crc)) {
        image_close(out);
        err = -ENOENT;
    }
    return err;
}

static int open_by_debuglink(struct image *out, const struct image *image, const char *path,
                             const char *debug_directory)
{
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(image->elf, &crc);
    struct buffer place = {0};
    int err = -ENOENT;
    for (int i = 0; link && err != 0 && i < DEBUGLINK_PLACES; i++)
        if (debug_path_of_debuglink(&place, i, link, path, debug_directory))
            err = open_linked(out, (char *)place.bytes, crc);
    buffer_free(&place);
    return err;
}

int debug_file_open(struct image *out, const struct image *image, const char *path,
                    const char *debug_directory)
{
    const uint8_t *id;
    size_t id_bytes = image_build_id(image, &id);
    int err = open_by_build_id(out, id, id_bytes, debug_directory);
    return err == 0 ? 0 : open_by_debuglink(out, image, path, debug_directory);
}

/* SPDX-License-Identifier: MIT */
#include "symbols/supplement.h"

#include "base/buffer.h"
#include "symbols/debug_file.h"
#include "symbols/image_build.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct link {
    const char *name;
    const uint8_t *id;
    size_t id_bytes;
};

static int open_joined(struct image *out, const struct link *link, const char *directory,
                       const char *between, const char *name)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s%s%s", directory, between, name);
    buffer_u8(&path, 0);
    int err = path.failed
                  ? -ENOMEM
                  : debug_file_open_if_same(out, (char *)path.bytes, link->id, link->id_bytes);
    buffer_free(&path);
    return err;
}

static int open_linked(struct image *out, const struct link *link, const char *path,
                       const struct symbols_config *config)
{
    const char *debug_directory = config->debug_directory;
    char directory[PATH_MAX] = "";
    int err = -ENOENT;
    if (link->name[0] == '/')
        err = open_joined(out, link, "", "", link->name);
    else if (path && realpath(path, directory)) {
        strrchr(directory, '/')[0] = '\0';
        err = open_joined(out, link, directory, "/", link->name);
    }
    const char *slash = strrchr(link->name, '/');
    const char *last = slash ? slash + 1 : link->name;
    if (err != 0)
        err = debug_file_open_by_build_id(out, link->id, link->id_bytes, debug_directory);
    if (err != 0)
        err = open_joined(out, link, debug_directory, "/.dwz/", last);
    return err ? debug_file_open_fetched(out, config, link->id, link->id_bytes) : 0;
}

/* Debug info with nothing in it, for references into a file that is not there. */
static int make_empty(struct image *out)
{
    static const uint8_t nothing[1];
    struct image_build build = {0};
    image_build_add(&build, ".debug_info", nothing, sizeof(nothing));
    image_build_add(&build, ".debug_str", nothing, sizeof(nothing));
    return image_build_finish(&build, out);
}

void supplement_open(struct supplement *supplement, Dwarf *dwarf, const char *path,
                     const struct symbols_config *config)
{
    const void *id;
    struct link link = {0};
    ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &link.name, &id);
    if (id_bytes <= 0)
        return;
    link.id = id;
    link.id_bytes = (size_t)id_bytes;
    struct image *image = &supplement->image;
    if ((!config->debug_directory || open_linked(image, &link, path, config) != 0) &&
        make_empty(image) != 0)
        return;
    if (packed_is_needed(image) && packed_open(&supplement->packed, image) == 0)
        image = &supplement->packed.image;
    supplement->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
    if (supplement->dwarf)
        dwarf_setalt(dwarf, supplement->dwarf);
}

void supplement_close(struct supplement *supplement)
{
    dwarf_end(supplement->dwarf);
    packed_free(&supplement->packed);
    image_close(&supplement->image);
}

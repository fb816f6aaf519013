/* SPDX-License-Identifier: MIT */
/* The files to fetch: debug files and supplements missing on this machine. */
#include "convert/symbolize/debuginfod.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "base/containers/cursor.h"
#include "convert/files/module_segments.h"
#include "convert/files/symfs.h"
#include "symbols/files/debug_path.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Of .gnu_debugaltlink: a path and a build-id. */
enum { LINK_BYTES_MAX = 8192 };

/* Once for each build-id: modules may share a supplement. */
static int add(struct debuginfod *debuginfod, const uint8_t *build_id, size_t build_id_bytes)
{
    for (size_t i = 0; i < debuginfod->count; i++)
        if (debuginfod->files[i].build_id_bytes == build_id_bytes &&
            memcmp(debuginfod->files[i].build_id, build_id, build_id_bytes) == 0)
            return 0;
    struct debuginfod_file *file =
        ARRAY_PUSH(debuginfod->files, debuginfod->count, debuginfod->capacity);
    if (!file)
        return -ENOMEM;
    *file = (struct debuginfod_file){.build_id_bytes = (uint8_t)build_id_bytes};
    memcpy(file->build_id, build_id, build_id_bytes);
    return 0;
}

static bool is_there(const struct buffer *path)
{
    return access((const char *)path->bytes, R_OK) == 0;
}

/* False: no debug file is there. */
static bool find_debug_file(struct buffer *path, const struct debuginfod *debuginfod,
                            const struct profile_lib *lib)
{
    return debug_path_of_build_id(path, debuginfod->options->debug_directory, lib->build_id,
                                  lib->build_id_bytes) &&
           is_there(path);
}

static struct elf_file *open_module(const struct debuginfod *debuginfod,
                                    const struct profile_lib *lib, struct symfs_path *path)
{
    struct elf_file *elf;
    *path = symfs_path_of(debuginfod->options, profile_text(debuginfod->profile, lib->path),
                          lib->build_id, lib->build_id_bytes);
    return module_file_open(&elf, path->text, lib->build_id, lib->build_id_bytes) == 0 ? elf : NULL;
}

static bool has_debug_info(const struct debuginfod *debuginfod, const struct profile_lib *lib)
{
    struct symfs_path path;
    struct elf_file *elf = open_module(debuginfod, lib, &path);
    bool has = elf && elf_find_section(elf, ".debug_info");
    elf_close(elf);
    struct buffer debug_file = {0};
    has |= find_debug_file(&debug_file, debuginfod, lib);
    buffer_free(&debug_file);
    return has;
}

/* Names of files by build-id need two bytes: xx/rest.debug. Without a path there is no file. */
static bool may_be_fetched(const struct debuginfod *debuginfod, const struct profile_lib *lib)
{
    return lib->build_id_bytes >= 2 && profile_text(debuginfod->profile, lib->path)[0] == '/';
}

int debuginfod_add(struct debuginfod *debuginfod, uint32_t lib_id)
{
    const struct profile_lib *lib = &debuginfod->profile->libs[lib_id];
    if (!may_be_fetched(debuginfod, lib) || has_debug_info(debuginfod, lib))
        return 0;
    return add(debuginfod, lib->build_id, lib->build_id_bytes);
}

/* The file with a lib's debug info, and its path; NULL: none. */
static struct elf_file *open_debug_info(const struct debuginfod *debuginfod,
                                        const struct profile_lib *lib, struct symfs_path *path)
{
    struct elf_file *elf = open_module(debuginfod, lib, path);
    if (elf && elf_find_section(elf, ".debug_info"))
        return elf;
    elf_close(elf);
    struct buffer debug_file = {0};
    bool is_found = find_debug_file(&debug_file, debuginfod, lib);
    const char *fetched = debuginfod_find(debuginfod, lib->build_id, lib->build_id_bytes);
    *path = symfs_path(NULL, is_found ? (char *)debug_file.bytes : fetched ?: "");
    buffer_free(&debug_file);
    return module_file_open(&elf, path->text, lib->build_id, lib->build_id_bytes) == 0 ? elf : NULL;
}

static bool has_supplement(const struct debuginfod *debuginfod, const char *linked_from,
                           const struct supplement_link *link)
{
    struct buffer place = {0};
    bool has = false;
    for (int i = 0; !has && i < SUPPLEMENT_PLACES; i++)
        has = debug_path_of_supplement(&place, i, link, linked_from,
                                       debuginfod->options->debug_directory) &&
              is_there(&place);
    buffer_free(&place);
    return has;
}

int debuginfod_add_supplement(struct debuginfod *debuginfod, uint32_t lib_id)
{
    const struct profile_lib *lib = &debuginfod->profile->libs[lib_id];
    struct symfs_path path;
    struct elf_file *elf =
        may_be_fetched(debuginfod, lib) ? open_debug_info(debuginfod, lib, &path) : NULL;
    const struct elf_section *section = elf ? elf_find_section(elf, ".gnu_debugaltlink") : NULL;
    struct buffer bytes = {0};
    int err = 0;
    if (section && section->bytes <= LINK_BYTES_MAX &&
        elf_read_section(elf, section, &bytes, NULL) == 0) {
        struct cursor c = cursor_of(bytes.bytes, bytes.size);
        struct supplement_link link = {.name = cursor_string(&c)};
        link.id_bytes = cursor_left(&c);
        link.id = cursor_bytes(&c, link.id_bytes);
        if (link.name && link.id && link.id_bytes >= 2 && link.id_bytes <= sizeof(lib->build_id) &&
            !has_supplement(debuginfod, path.text, &link))
            err = add(debuginfod, link.id, link.id_bytes);
    }
    buffer_free(&bytes);
    elf_close(elf);
    return err;
}

/* SPDX-License-Identifier: MIT */
/* What is to be fetched: what the modules lack on this machine. */
#include "convert/fetch.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "convert/image.h"
#include "convert/symfs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LINK_BYTES_MAX = 8192 };

static int add(struct fetch *fetch, const uint8_t *build_id, size_t build_id_bytes)
{
    for (size_t i = 0; i < fetch->count; i++)
        if (fetch->files[i].build_id_bytes == build_id_bytes &&
            memcmp(fetch->files[i].build_id, build_id, build_id_bytes) == 0)
            return 0;
    struct fetch_file *file = ARRAY_PUSH(fetch->files, fetch->count, fetch->capacity);
    if (!file)
        return -ENOMEM;
    *file = (struct fetch_file){.build_id_bytes = (uint8_t)build_id_bytes};
    memcpy(file->build_id, build_id, build_id_bytes);
    return 0;
}

/* <debug directory>/.build-id/ab/cdef….debug */
static void append_debug_file(struct buffer *path, const struct fetch *fetch, const uint8_t *id,
                              size_t id_bytes)
{
    buffer_printf(path, "%s/.build-id/%02x/", fetch->options->debug_directory, id[0]);
    for (size_t i = 1; i < id_bytes; i++)
        buffer_printf(path, "%02x", id[i]);
    buffer_text(path, ".debug");
}

/* Terminates the path; whether it leads to something. */
static bool is_there(struct buffer *path)
{
    buffer_u8(path, 0);
    return !path->failed && access((char *)path->bytes, R_OK) == 0;
}

static struct elf_file *open_module(const struct fetch *fetch, const struct profile_lib *lib,
                                    struct symfs_path *path)
{
    struct elf_file *elf;
    *path = symfs_path_of(fetch->options, profile_text(fetch->profile, lib->path), lib->build_id,
                          lib->build_id_bytes);
    return image_open_elf(&elf, path->text, lib->build_id, lib->build_id_bytes) == 0 ? elf : NULL;
}

static bool has_debug_info(const struct fetch *fetch, const struct profile_lib *lib)
{
    struct symfs_path path;
    struct elf_file *elf = open_module(fetch, lib, &path);
    bool has = elf && elf_find_section(elf, ".debug_info");
    elf_close(elf);
    struct buffer debug_file = {0};
    append_debug_file(&debug_file, fetch, lib->build_id, lib->build_id_bytes);
    has |= is_there(&debug_file);
    buffer_free(&debug_file);
    return has;
}

static bool may_be_fetched(const struct fetch *fetch, const struct profile_lib *lib)
{
    return lib->build_id_bytes >= 2 && profile_text(fetch->profile, lib->path)[0] == '/';
}

int fetch_add(struct fetch *fetch, uint32_t lib_id)
{
    const struct profile_lib *lib = &fetch->profile->libs[lib_id];
    if (!may_be_fetched(fetch, lib) || has_debug_info(fetch, lib))
        return 0;
    return add(fetch, lib->build_id, lib->build_id_bytes);
}

/* The file with a lib's debug info, and where it is; NULL: there is none. */
static struct elf_file *open_debug_info(const struct fetch *fetch, const struct profile_lib *lib,
                                        struct symfs_path *path)
{
    struct elf_file *elf = open_module(fetch, lib, path);
    if (elf && elf_find_section(elf, ".debug_info"))
        return elf;
    elf_close(elf);
    struct buffer debug_file = {0};
    append_debug_file(&debug_file, fetch, lib->build_id, lib->build_id_bytes);
    const char *fetched = fetch_find(fetch, lib->build_id, lib->build_id_bytes);
    *path = symfs_path(NULL, is_there(&debug_file) ? (char *)debug_file.bytes : fetched ?: "");
    buffer_free(&debug_file);
    return image_open_elf(&elf, path->text, lib->build_id, lib->build_id_bytes) == 0 ? elf : NULL;
}

/* Where symbols/supplement.h looks. */
static bool has_supplement(const struct fetch *fetch, const char *of, const char *name,
                           const uint8_t *id, size_t id_bytes)
{
    struct buffer linked = {0}, by_id = {0}, by_name = {0};
    const char *slash = strrchr(name, '/'), *of_slash = strrchr(of, '/');
    if (name[0] != '/' && of_slash)
        buffer_append(&linked, of, (size_t)(of_slash + 1 - of));
    buffer_text(&linked, name);
    append_debug_file(&by_id, fetch, id, id_bytes);
    buffer_printf(&by_name, "%s/.dwz/%s", fetch->options->debug_directory,
                  slash ? slash + 1 : name);
    bool has = is_there(&linked) || is_there(&by_id) || is_there(&by_name);
    buffer_free(&linked);
    buffer_free(&by_id);
    buffer_free(&by_name);
    return has;
}

int fetch_add_supplement(struct fetch *fetch, uint32_t lib_id)
{
    const struct profile_lib *lib = &fetch->profile->libs[lib_id];
    struct symfs_path path;
    struct elf_file *elf = may_be_fetched(fetch, lib) ? open_debug_info(fetch, lib, &path) : NULL;
    const struct elf_section *section = elf ? elf_find_section(elf, ".gnu_debugaltlink") : NULL;
    struct buffer link = {0};
    int err = 0;
    if (section && section->bytes <= LINK_BYTES_MAX &&
        elf_read_section(elf, section, &link, NULL) == 0) {
        struct cursor c = cursor_of(link.bytes, link.size);
        const char *name = cursor_string(&c);
        size_t id_bytes = cursor_left(&c);
        const uint8_t *id = cursor_bytes(&c, id_bytes);
        if (name && id && id_bytes >= 2 && id_bytes <= sizeof(lib->build_id) &&
            !has_supplement(fetch, path.text, name, id, id_bytes))
            err = add(fetch, id, id_bytes);
    }
    buffer_free(&link);
    elf_close(elf);
    return err;
}

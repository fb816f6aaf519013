/* SPDX-License-Identifier: MIT */
#include "convert/files/debug_info.h"

#include "base/containers/cursor.h"
#include "convert/files/module_segments.h"
#include "convert/files/symfs.h"
#include "symbols/files/debug_path.h"

#include <unistd.h>

/* Of .gnu_debuglink: a file name and a checksum. */
enum { LINK_BYTES_MAX = 8192 };

static uint64_t section_bytes(const struct elf_file *elf)
{
    const struct elf_section *section = elf ? elf_find_section(elf, ".debug_info") : NULL;
    if (elf && !section)
        section = elf_find_section(elf, ".zdebug_info");
    return section ? section->bytes : 0;
}

/* By the name only: the checksum would need a read of the whole file. */
static bool has_linked(const struct elf_file *elf, const char *path, const char *debug_directory)
{
    const struct elf_section *section = elf_find_section(elf, ".gnu_debuglink");
    struct buffer bytes = {0}, place = {0};
    bool has = false;
    if (section && section->bytes <= LINK_BYTES_MAX &&
        elf_read_section(elf, section, &bytes, NULL) == 0) {
        struct cursor c = cursor_of(bytes.bytes, bytes.size);
        const char *name = cursor_string(&c);
        for (int i = 0; name && !has && i < DEBUGLINK_PLACES; i++)
            has = debug_path_of_debuglink(&place, i, name, path, debug_directory) &&
                  access((const char *)place.bytes, F_OK) == 0;
    }
    buffer_free(&place);
    buffer_free(&bytes);
    return has;
}

/* In the file itself, and in another one. */
struct places {
    uint64_t own_bytes, other_bytes;
};

static struct places find_places(const struct profile *profile, uint32_t lib_id,
                                 const struct convert_options *options)
{
    const struct profile_lib *lib = &profile->libs[lib_id];
    struct places places = {0};
    struct symfs_path here = symfs_path_of(options, profile_text(profile, lib->path), lib->build_id,
                                           lib->build_id_bytes);
    struct elf_file *elf;
    if (module_file_open(&elf, here.text, lib->build_id, lib->build_id_bytes) != 0)
        return places;
    struct elf_file *debug = module_file_open_debug(elf, options->debug_directory);
    places = (struct places){section_bytes(elf), section_bytes(debug)};
    bool is_none = places.own_bytes == 0 && places.other_bytes == 0;
    if (is_none && has_linked(elf, here.text, options->debug_directory))
        places.other_bytes = UINT64_MAX;
    elf_close(debug);
    elf_close(elf);
    return places;
}

uint64_t debug_info_bytes(const struct profile *profile, uint32_t lib,
                          const struct convert_options *options)
{
    struct places places = find_places(profile, lib, options);
    return places.own_bytes + places.other_bytes;
}

bool debug_info_is_separate(const struct profile *profile, uint32_t lib,
                            const struct convert_options *options)
{
    struct places places = find_places(profile, lib, options);
    return places.own_bytes == 0 && places.other_bytes > 0;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/packed.h"

#include "elf/decompress.h"
#include "elf/elf_file.h"
#include "symbols/excerpt.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

enum { DEBUGDATA_BYTES_MAX = 256 << 20 };

void packed_init(struct packed *packed)
{
    *packed = (struct packed){.image.fd = -1};
}

void packed_free(struct packed *packed)
{
    image_close(&packed->image);
    for (size_t i = 0; i < IMAGE_BUILD_SECTIONS; i++)
        buffer_free(&packed->sections[i]);
}

bool packed_is_needed(const struct image *image)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
            return true;
    }
    return false;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Where variables are, macros, and indices for debuggers: up to a third of the debug info, asked by nobody. */
static bool is_wanted(const char *name)
{
    static const char *const others[] = {".debug_loc",  ".debug_macro",   ".debug_macinfo",
                                         ".debug_pub",  ".debug_gnu_pub", ".debug_names",
                                         ".debug_frame"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (starts_with(name, others[i]))
            return false;
    return starts_with(name, ".debug_") || strcmp(name, ".gnu_debugaltlink") == 0;
}

/* Which .debug_info can be read in excerpts by. */
static bool tells_of_units(const char *name)
{
    return strcmp(name, ".debug_aranges") == 0 || strcmp(name, ".debug_abbrev") == 0;
}

static struct cursor content_of(const struct image_build *build, const char *name)
{
    for (size_t i = 0; i < build->count; i++)
        if (strcmp(build->sections[i].name, name) == 0)
            return cursor_of(build->sections[i].bytes, build->sections[i].size);
    return (struct cursor){0};
}

static int open_section(struct packed *packed, struct image_build *build,
                        const struct elf_file *elf, const struct elf_section *section,
                        struct excerpt *excerpt)
{
    struct buffer *content = &packed->sections[build->count];
    int err = -ENOTSUP;
    if (strcmp(section->name, ".debug_info") == 0) {
        excerpt->aranges = content_of(build, ".debug_aranges");
        excerpt->abbreviations = content_of(build, ".debug_abbrev");
        err = excerpt_read(excerpt, elf, section, content);
    }
    if (err != 0 && elf_read_section(elf, section, content, NULL) == -ENOMEM)
        return -ENOMEM;
    image_build_add(build, section->name, content->bytes, content->size);
    return 0;
}

/* Those that tell of units, or the others. */
static int open_some(struct packed *packed, struct image_build *build, const struct elf_file *elf,
                     struct excerpt *excerpt, bool tell_of_units)
{
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        if (is_wanted(section->name) && tells_of_units(section->name) == tell_of_units &&
            build->count < IMAGE_BUILD_SECTIONS)
            err = open_section(packed, build, elf, section, excerpt);
    }
    return err;
}

static int open_sections(struct packed *packed, const struct elf_file *elf, struct excerpt *excerpt)
{
    struct image_build build = {0};
    int err = open_some(packed, &build, elf, excerpt, true);
    if (err == 0)
        err = open_some(packed, &build, elf, excerpt, false);
    return err ? err : image_build_finish(&build, &packed->image);
}

int packed_open(struct packed *packed, const struct image *from, const uint64_t *wanted,
                size_t wanted_count)
{
    struct elf_file *elf;
    struct excerpt excerpt = {.wanted = wanted, .wanted_count = wanted_count};
    int err = elf_open(&elf, from->fd, NULL);
    if (err != 0)
        return err;
    err = open_sections(packed, elf, &excerpt);
    elf_close(elf);
    return err;
}

int packed_open_debugdata(struct image *out, const struct image *from)
{
    Elf_Scn *section = image_section(from->elf, ".gnu_debugdata");
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return -ENOENT;
    struct buffer bytes = {0};
    int err = decompress_xz(data->d_buf, data->d_size, DEBUGDATA_BYTES_MAX, &bytes);
    if (err == 0)
        err = image_adopt(out, &bytes, NULL);
    buffer_free(&bytes);
    return err;
}

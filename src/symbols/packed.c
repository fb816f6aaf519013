/* SPDX-License-Identifier: MIT */
#include "symbols/packed.h"

#include "elf/decompress.h"
#include "elf/elf_file.h"
#include "symbols/excerpt.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

void packed_init(struct packed *packed)
{
    *packed = (struct packed){.image.fd = -1};
}

static void close_file(struct packed *packed)
{
    excerpt_lines_close(&packed->lines);
    elf_close(packed->elf);
    packed->elf = NULL;
}

void packed_free(struct packed *packed)
{
    image_close(&packed->image);
    close_file(packed);
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

/* What .debug_info can be read in excerpts by comes first, and what can be then, last. */
enum turn { TELLS_OF_UNITS, UNITS, OTHERS, TURNS };

static enum turn turn_of(const char *name)
{
    if (strcmp(name, ".debug_aranges") == 0 || strcmp(name, ".debug_abbrev") == 0)
        return TELLS_OF_UNITS;
    return strcmp(name, ".debug_info") == 0 ? UNITS : OTHERS;
}

struct opening {
    struct packed *packed;
    struct image_build build;
    struct excerpt excerpt;
    bool has_excerpt;
};

static struct cursor content_of(const struct image_build *build, const char *name)
{
    for (size_t i = 0; i < build->count; i++)
        if (strcmp(build->sections[i].name, name) == 0)
            return cursor_of(build->sections[i].bytes, build->sections[i].size);
    return (struct cursor){0};
}

/* Of a section that was read: now it is this, of the same size. */
static void replace(struct opening *opening, const char *name, struct buffer *content)
{
    for (size_t i = 0; i < opening->build.count; i++) {
        if (strcmp(opening->build.sections[i].name, name) != 0)
            continue;
        buffer_free(&opening->packed->sections[i]);
        opening->packed->sections[i] = *content;
        opening->build.sections[i].bytes = content->bytes;
        return;
    }
    buffer_free(content);
}

static int open_units(struct opening *opening, const struct elf_section *section,
                      struct buffer *content)
{
    struct buffer tables;
    opening->excerpt.aranges = content_of(&opening->build, ".debug_aranges");
    opening->excerpt.abbreviations = content_of(&opening->build, ".debug_abbrev");
    int err = excerpt_read(&opening->excerpt, opening->packed->elf, section, content, &tables);
    opening->has_excerpt |= err == 0;
    if (err == 0)
        replace(opening, ".debug_abbrev", &tables);
    return err;
}

static int open_section(struct opening *opening, const struct elf_section *section)
{
    struct packed *packed = opening->packed;
    struct buffer *content = &packed->sections[opening->build.count];
    int err = -ENOTSUP;
    if (turn_of(section->name) == UNITS)
        err = open_units(opening, section, content);
    else if (opening->has_excerpt && !packed->lines.stream &&
             strcmp(section->name, ".debug_line") == 0)
        err = excerpt_lines_open(&packed->lines, packed->elf, section, content);
    if (err != 0)
        err = elf_read_section(packed->elf, section, content, NULL);
    if (err == -ENOMEM)
        return err;
    packed->is_damaged |= err != 0;
    image_build_add(&opening->build, section->name, content->bytes, content->size);
    return 0;
}

static int open_some(struct opening *opening, enum turn turn)
{
    const struct elf_file *elf = opening->packed->elf;
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        if (is_wanted(section->name) && turn_of(section->name) == turn &&
            opening->build.count < IMAGE_BUILD_SECTIONS)
            err = open_section(opening, section);
    }
    return err;
}

int packed_open(struct packed *packed, const struct image *from, const uint64_t *wanted,
                size_t wanted_count)
{
    struct opening opening = {.packed = packed,
                              .excerpt = {.wanted = wanted, .wanted_count = wanted_count}};
    int err = elf_open(&packed->elf, from->fd, NULL);
    for (enum turn turn = 0; turn < TURNS && err == 0; turn++)
        err = open_some(&opening, turn);
    if (err == 0)
        err = image_build_finish(&opening.build, &packed->image);
    if (err != 0 || !packed->lines.stream)
        close_file(packed);
    return err;
}

void packed_read_lines(struct packed *packed, const uint64_t *offsets, size_t count)
{
    packed->is_damaged |= excerpt_lines_read(&packed->lines, offsets, count) != 0;
    close_file(packed);
}

int packed_open_debugdata(struct image *out, const struct image *from)
{
    Elf_Scn *section = image_section(from->elf, ".gnu_debugdata");
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return -ENOENT;
    struct buffer bytes = {0};
    int err = decompress_xz(data->d_buf, data->d_size, decompress_limit(data->d_size), &bytes);
    if (err == 0)
        err = image_adopt(out, &bytes, NULL);
    buffer_free(&bytes);
    return err;
}

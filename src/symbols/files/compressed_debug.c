/* SPDX-License-Identifier: MIT */
#include "symbols/files/compressed_debug.h"

#include "elf/decompress.h"
#include "elf/elf_file.h"
#include "symbols/files/partial_info.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

void compressed_debug_init(struct compressed_debug *compressed)
{
    *compressed = (struct compressed_debug){.handle.fd = -1};
}

static void close_file(struct compressed_debug *compressed)
{
    partial_lines_close(&compressed->lines);
    elf_close(compressed->elf);
    compressed->elf = NULL;
}

void compressed_debug_free(struct compressed_debug *compressed)
{
    elf_handle_close(&compressed->handle);
    close_file(compressed);
    for (size_t i = 0; i < ELF_BUILD_SECTIONS; i++)
        buffer_free(&compressed->sections[i]);
}

bool compressed_debug_is_needed(const struct elf_handle *handle)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(handle->elf, section))) {
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

/* Sections that are never read (locations of variables, macros, indices for debuggers): up to a
 * third of the debug info. */
static bool is_needed(const char *name)
{
    static const char *const others[] = {".debug_loc",  ".debug_macro",   ".debug_macinfo",
                                         ".debug_pub",  ".debug_gnu_pub", ".debug_names",
                                         ".debug_frame"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (starts_with(name, others[i]))
            return false;
    return starts_with(name, ".debug_") || strcmp(name, ".gnu_debugaltlink") == 0;
}

/* The order of reading: sections that select units, the units, and sections reduced to these
 * units. */
enum turn { SELECTORS, UNITS, OTHERS, TURNS };

static enum turn turn_of(const char *name)
{
    if (strcmp(name, ".debug_aranges") == 0 || strcmp(name, ".debug_abbrev") == 0)
        return SELECTORS;
    return strcmp(name, ".debug_info") == 0 ? UNITS : OTHERS;
}

struct opening {
    struct compressed_debug *compressed;
    struct elf_build build;
    struct partial_info partial;
    bool is_partial;
};

static struct cursor content_of(const struct elf_build *build, const char *name)
{
    for (size_t i = 0; i < build->count; i++)
        if (strcmp(build->sections[i].name, name) == 0)
            return cursor_of(build->sections[i].bytes, build->sections[i].size);
    return (struct cursor){0};
}

/* Replaces the content of a section, by bytes of the same size. */
static void replace(struct opening *opening, const char *name, struct buffer *content)
{
    for (size_t i = 0; i < opening->build.count; i++) {
        if (strcmp(opening->build.sections[i].name, name) != 0)
            continue;
        buffer_free(&opening->compressed->sections[i]);
        opening->compressed->sections[i] = *content;
        opening->build.sections[i].bytes = content->bytes;
        return;
    }
    buffer_free(content);
}

static int open_units(struct opening *opening, const struct elf_section *section,
                      struct buffer *content)
{
    struct buffer tables;
    opening->partial.aranges = content_of(&opening->build, ".debug_aranges");
    opening->partial.abbreviations = content_of(&opening->build, ".debug_abbrev");
    int err =
        partial_info_read(&opening->partial, opening->compressed->elf, section, content, &tables);
    opening->is_partial |= err == 0;
    if (err == 0)
        replace(opening, ".debug_abbrev", &tables);
    return err;
}

static int open_section(struct opening *opening, const struct elf_section *section)
{
    struct compressed_debug *compressed = opening->compressed;
    struct buffer *content = &compressed->sections[opening->build.count];
    int err = -ENOTSUP;
    if (turn_of(section->name) == UNITS)
        err = open_units(opening, section, content);
    else if (opening->is_partial && !compressed->lines.stream &&
             strcmp(section->name, ".debug_line") == 0)
        err = partial_lines_open(&compressed->lines, compressed->elf, section, content);
    if (err != 0)
        err = elf_read_section(compressed->elf, section, content, NULL);
    if (err == -ENOMEM)
        return err;
    compressed->is_damaged |= err != 0;
    elf_build_add(&opening->build, section->name, content->bytes, content->size);
    return 0;
}

static int open_some(struct opening *opening, enum turn turn)
{
    const struct elf_file *elf = opening->compressed->elf;
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        if (is_needed(section->name) && turn_of(section->name) == turn &&
            opening->build.count < ELF_BUILD_SECTIONS)
            err = open_section(opening, section);
    }
    return err;
}

/* In three turns: .debug_aranges and .debug_abbrev select the units of .debug_info, and then
 * .debug_line may wait for the units' offsets. */
int compressed_debug_open(struct compressed_debug *compressed, const struct elf_handle *from,
                          const uint64_t *needed, size_t needed_count)
{
    struct opening opening = {.compressed = compressed,
                              .partial = {.needed = needed, .needed_count = needed_count}};
    int err = elf_open(&compressed->elf, from->fd, NULL);
    for (enum turn turn = 0; turn < TURNS && err == 0; turn++)
        err = open_some(&opening, turn);
    if (err == 0)
        err = elf_build_finish(&opening.build, &compressed->handle);
    if (err != 0 || !compressed->lines.stream)
        close_file(compressed);
    return err;
}

void compressed_debug_read_lines(struct compressed_debug *compressed, const uint64_t *offsets,
                                 size_t count)
{
    compressed->is_damaged |= partial_lines_read(&compressed->lines, offsets, count) != 0;
    close_file(compressed);
}

/* GDB manual, "MiniDebugInfo": .symtab of a stripped file, in an ELF file of its own. */
int compressed_debug_open_debugdata(struct elf_handle *out, const struct elf_handle *from)
{
    Elf_Scn *section = elf_handle_section(from->elf, ".gnu_debugdata");
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return -ENOENT;
    struct buffer bytes = {0};
    int err = decompress_xz(data->d_buf, data->d_size, decompress_limit(data->d_size), &bytes);
    if (err == 0)
        err = elf_handle_adopt(out, &bytes, NULL);
    buffer_free(&bytes);
    return err;
}

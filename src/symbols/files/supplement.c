/* SPDX-License-Identifier: MIT */
#include "symbols/files/supplement.h"

#include "symbols/files/debug_file.h"
#include "symbols/files/debug_path.h"
#include "symbols/files/elf_build.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_linked(struct elf_handle *out, const struct supplement_link *link, const char *path,
                       const struct symbols_config *config)
{
    struct buffer place = {0};
    int err = -ENOENT;
    for (int i = 0; err != 0 && i < SUPPLEMENT_PLACES; i++)
        if (debug_path_of_supplement(&place, i, link, path, config->debug_directory))
            err = debug_file_open_if_same(out, (char *)place.bytes, link->id, link->id_bytes);
    buffer_free(&place);
    return err ? debug_file_open_fetched(out, config, link->id, link->id_bytes) : 0;
}

/* Empty debug info, as the target of references into a missing file. */
static int make_empty(struct elf_handle *out)
{
    static const uint8_t nothing[1];
    struct elf_build build = {0};
    elf_build_add(&build, ".debug_info", nothing, sizeof(nothing));
    elf_build_add(&build, ".debug_str", nothing, sizeof(nothing));
    return elf_build_finish(&build, out);
}

/* False: without debug info. */
static bool open_dwarf(struct supplement *supplement)
{
    struct elf_handle *handle = &supplement->handle;
    if (compressed_debug_is_needed(handle) &&
        compressed_debug_open(&supplement->compressed, handle, NULL, 0) == 0)
        handle = &supplement->compressed.handle;
    supplement->dwarf = dwarf_begin_elf(handle->elf, DWARF_C_READ, NULL);
    return supplement->dwarf;
}

/* Without another file, libdw opens the linked path, whatever is there (dwarf_getalt() in elfutils
 * 0.188). */
static bool open_empty(struct supplement *supplement)
{
    compressed_debug_free(&supplement->compressed);
    elf_handle_close(&supplement->handle);
    return make_empty(&supplement->handle) == 0 && open_dwarf(supplement);
}

void supplement_open(struct supplement *supplement, Dwarf *dwarf, const char *path,
                     const struct symbols_config *config)
{
    const void *id;
    struct supplement_link link = {0};
    ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &link.name, &id);
    if (id_bytes <= 0)
        return;
    link.id = id;
    link.id_bytes = (size_t)id_bytes;
    bool is_found = config->debug_directory &&
                    open_linked(&supplement->handle, &link, path, config) == 0 &&
                    open_dwarf(supplement);
    if (!is_found)
        supplement->missing = strdup(link.name);
    if (is_found || open_empty(supplement))
        dwarf_setalt(dwarf, supplement->dwarf);
}

void supplement_close(struct supplement *supplement)
{
    dwarf_end(supplement->dwarf);
    compressed_debug_free(&supplement->compressed);
    elf_handle_close(&supplement->handle);
    free(supplement->missing);
}

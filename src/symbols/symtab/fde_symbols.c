/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/fde_symbols.h"

#include "base/containers/array.h"
#include "base/text/path_name.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel maps 16 pages around each touched byte of a compiler's 3 MB of tables. */
enum { LET_GO_LOOKUPS = 8192 };

/* The name in glibc and musl, in the debug symbols only. */
static const char restorer[] = "__restore_rt";

void fde_symbols_free(struct fde_symbols *fdes)
{
    for (size_t i = 0; i < fdes->count; i++)
        free(fdes->texts[i]);
    free(fdes->texts);
    if (fdes->names)
        intern_free(fdes->names);
    *fdes = (struct fde_symbols){0};
}

static struct cursor section_bytes(const struct elf_handle *handle, const char *name,
                                   uint64_t *svma)
{
    Elf_Scn *section = elf_handle_section(handle->elf, name);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr header;
    if (!data || !data->d_buf || !gelf_getshdr(section, &header))
        return (struct cursor){0};
    *svma = header.sh_addr;
    return cursor_of(data->d_buf, data->d_size);
}

static void read_tables(struct fde_symbols *fdes)
{
    fdes->was_read = true;
    fdes->names = intern_new();
    uint64_t svma = 0;
    struct cursor section = section_bytes(fdes->handle, ".eh_frame_hdr", &svma);
    fde_table_open(&fdes->table, section, svma);
    fdes->records = section_bytes(fdes->handle, ".eh_frame", &fdes->records_svma);
}

/* The size of the function in its FDE: u32 length, u32 CIE, i32 start, u32 size. */
static uint64_t extent(const struct fde_symbols *fdes, uint64_t record_svma)
{
    struct cursor c = fdes->records;
    cursor_seek(&c, record_svma - fdes->records_svma);
    cursor_skip(&c, 12);
    return cursor_u32(&c);
}

/* all letters: zPLRSBG */
enum { LETTERS_MAX = 16 };

/* Letter S in the augmentation of the FDE's CIE: u32 length, u32 0, u8 version, letters. The FDE
 * has the distance from its second word back to the CIE. */
static bool returns_from_signal(const struct fde_symbols *fdes, uint64_t record_svma)
{
    const uint64_t word_at = record_svma - fdes->records_svma + 4;
    struct cursor c = fdes->records;
    cursor_seek(&c, word_at);
    cursor_seek(&c, word_at - cursor_u32(&c));
    cursor_skip(&c, 9);
    uint8_t letter;
    for (int i = 0; i < LETTERS_MAX && (letter = cursor_u8(&c)); i++)
        if (letter == 'S')
            return true;
    return false;
}

static const char *name_of_start(struct fde_symbols *fdes, uint64_t start_svma)
{
    uint32_t index = intern_add(fdes->names, &start_svma, sizeof(start_svma));
    if (index < fdes->count)
        return fdes->texts[index];
    char **text = ARRAY_PUSH(fdes->texts, fdes->count, fdes->capacity);
    if (!text || asprintf(text, "%s+0x%" PRIx64, path_name(fdes->handle->path), start_svma) < 0)
        return NULL;
    return *text;
}

const char *fde_symbols_find(struct fde_symbols *fdes, uint64_t svma)
{
    if (!fdes->was_read && fdes->handle->path)
        read_tables(fdes);
    if (++fdes->lookup_count % LET_GO_LOOKUPS == 0)
        elf_handle_drop_pages(fdes->handle);
    uint32_t up_to = fdes->names ? fde_table_count_up_to(&fdes->table, svma) : 0;
    if (up_to == 0)
        return NULL;
    const uint64_t start = fde_table_start_svma(&fdes->table, up_to - 1);
    const uint64_t record_svma = fde_table_record_svma(&fdes->table, up_to - 1);
    if (svma - start >= extent(fdes, record_svma))
        return NULL;
    return returns_from_signal(fdes, record_svma) ? restorer : name_of_start(fdes, start);
}

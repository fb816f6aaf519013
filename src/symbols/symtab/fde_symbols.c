/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/fde_symbols.h"

#include "base/containers/array.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* As all linkers write: version 1, a signed 32-bit offset from here, a 32-bit count, a table of
     * signed 32-bit offsets from the section. */
    VERSION_AND_ENCODINGS = 0x3b031b01,
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
};

/* The kernel maps 16 pages around each touched byte of a compiler's 3 MB of tables. */
enum { LET_GO_LOOKUPS = 1024 };

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
    struct cursor c = section_bytes(fdes->handle, ".eh_frame_hdr", &fdes->table_svma);
    uint32_t encodings = cursor_u32(&c);
    cursor_skip(&c, 4); /* where .eh_frame is */
    uint32_t count = cursor_u32(&c);
    if (encodings == VERSION_AND_ENCODINGS)
        fdes->table = cursor_sub(&c, (uint64_t)count * ENTRY_BYTES);
    fdes->records = section_bytes(fdes->handle, ".eh_frame", &fdes->records_svma);
}

static uint64_t table_value(const struct fde_symbols *fdes, size_t entry, size_t which)
{
    struct cursor c = fdes->table;
    cursor_seek(&c, entry * ENTRY_BYTES + which * 4);
    return fdes->table_svma + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* The size of the function in its FDE: u32 length, u32 CIE, i32 start, u32 size. */
static uint64_t extent(const struct fde_symbols *fdes, uint64_t record_svma)
{
    struct cursor c = fdes->records;
    cursor_seek(&c, record_svma - fdes->records_svma);
    cursor_skip(&c, 12);
    return cursor_u32(&c);
}

static const char *name_of_start(struct fde_symbols *fdes, uint64_t start_svma)
{
    uint32_t index = intern_add(fdes->names, &start_svma, sizeof(start_svma));
    if (index < fdes->count)
        return fdes->texts[index];
    char **text = ARRAY_PUSH(fdes->texts, fdes->count, fdes->capacity);
    const char *slash = strrchr(fdes->handle->path, '/');
    if (!text ||
        asprintf(text, "%s+0x%" PRIx64, slash ? slash + 1 : fdes->handle->path, start_svma) < 0)
        return NULL;
    return *text;
}

const char *fde_symbols_find(struct fde_symbols *fdes, uint64_t svma)
{
    if (!fdes->was_read && fdes->handle->path)
        read_tables(fdes);
    if (++fdes->lookup_count % LET_GO_LOOKUPS == 0)
        elf_handle_drop_pages(fdes->handle);
    size_t low = 0, high = fdes->names ? fdes->table.size / ENTRY_BYTES : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table_value(fdes, middle, 0) <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    uint64_t start = table_value(fdes, low - 1, 0);
    if (svma - start >= extent(fdes, table_value(fdes, low - 1, 1)))
        return NULL;
    return name_of_start(fdes, start);
}

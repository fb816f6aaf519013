/* SPDX-License-Identifier: MIT */
#include "symbols/unnamed.h"

#include "base/containers/array.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* What all linkers write: version 1, a signed 32-bit offset from here, a 32-bit count, a table of
     * signed 32-bit offsets from the section. */
    VERSION_AND_ENCODINGS = 0x3b031b01,
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
};

/* Of a compiler's 3 MB of tables 16 pages are mapped for each byte that is touched. */
enum { LET_GO_LOOKUPS = 1024 };

void unnamed_free(struct unnamed *unnamed)
{
    for (size_t i = 0; i < unnamed->count; i++)
        free(unnamed->texts[i]);
    free(unnamed->texts);
    if (unnamed->names)
        intern_free(unnamed->names);
    *unnamed = (struct unnamed){0};
}

static struct cursor section_bytes(const struct image *image, const char *name, uint64_t *svma)
{
    Elf_Scn *section = image_section(image->elf, name);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr header;
    if (!data || !data->d_buf || !gelf_getshdr(section, &header))
        return (struct cursor){0};
    *svma = header.sh_addr;
    return cursor_of(data->d_buf, data->d_size);
}

static void read_tables(struct unnamed *unnamed)
{
    unnamed->was_read = true;
    unnamed->names = intern_new();
    struct cursor c = section_bytes(unnamed->image, ".eh_frame_hdr", &unnamed->table_svma);
    uint32_t encodings = cursor_u32(&c);
    cursor_skip(&c, 4); /* where .eh_frame is */
    uint32_t count = cursor_u32(&c);
    if (encodings == VERSION_AND_ENCODINGS)
        unnamed->table = cursor_sub(&c, (uint64_t)count * ENTRY_BYTES);
    unnamed->records = section_bytes(unnamed->image, ".eh_frame", &unnamed->records_svma);
}

static uint64_t table_value(const struct unnamed *unnamed, size_t entry, size_t which)
{
    struct cursor c = unnamed->table;
    cursor_seek(&c, entry * ENTRY_BYTES + which * 4);
    return unnamed->table_svma + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* How long the function is, by its record: u32 length, u32 CIE, i32 start, u32 size. */
static uint64_t extent(const struct unnamed *unnamed, uint64_t record_svma)
{
    struct cursor c = unnamed->records;
    cursor_seek(&c, record_svma - unnamed->records_svma);
    cursor_skip(&c, 12);
    return cursor_u32(&c);
}

static const char *name_of_start(struct unnamed *unnamed, uint64_t start_svma)
{
    uint32_t index = intern_add(unnamed->names, &start_svma, sizeof(start_svma));
    if (index < unnamed->count)
        return unnamed->texts[index];
    char **text = ARRAY_PUSH(unnamed->texts, unnamed->count, unnamed->capacity);
    const char *slash = strrchr(unnamed->image->path, '/');
    if (!text ||
        asprintf(text, "%s+0x%" PRIx64, slash ? slash + 1 : unnamed->image->path, start_svma) < 0)
        return NULL;
    return *text;
}

const char *unnamed_find(struct unnamed *unnamed, uint64_t svma)
{
    if (!unnamed->was_read && unnamed->image->path)
        read_tables(unnamed);
    if (++unnamed->lookup_count % LET_GO_LOOKUPS == 0)
        image_let_go(unnamed->image);
    size_t low = 0, high = unnamed->names ? unnamed->table.size / ENTRY_BYTES : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table_value(unnamed, middle, 0) <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    uint64_t start = table_value(unnamed, low - 1, 0);
    if (svma - start >= extent(unnamed, table_value(unnamed, low - 1, 1)))
        return NULL;
    return name_of_start(unnamed, start);
}

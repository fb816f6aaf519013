/* SPDX-License-Identifier: MIT */
#include "elf/fde_table.h"

/* Of where .eh_frame is, of the count and of the table, as all linkers write them. */
enum {
    VERSION = 1,
    FRAME_ENCODING = 0x1b, /* 32 bits, relative to themselves */
    COUNT_ENCODING = 0x03, /* 32 bits */
    TABLE_ENCODING = 0x3b, /* 32 bits, relative to the header */
};

bool fde_table_open(struct fde_table *table, struct cursor section, uint64_t section_svma)
{
    struct cursor c = section;
    bool is_usual = cursor_u8(&c) == VERSION;
    is_usual &= cursor_u8(&c) == FRAME_ENCODING;
    is_usual &= cursor_u8(&c) == COUNT_ENCODING;
    is_usual &= cursor_u8(&c) == TABLE_ENCODING;
    cursor_skip(&c, 4);
    uint32_t count = cursor_u32(&c);
    *table = (struct fde_table){0};
    if (!is_usual || c.failed || count > cursor_left(&c) / FDE_TABLE_ENTRY_BYTES)
        return false;
    *table = (struct fde_table){c.bytes + c.at, count, section_svma};
    return true;
}

uint32_t fde_table_count_up_to(const struct fde_table *table, uint64_t svma)
{
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fde_table_start_svma(table, middle) <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* SPDX-License-Identifier: MIT */
/*
 * Range lists of split units. libdw reads such lists only in units that it has opened itself:
 * otherwise it lacks the base of offsets, which is the skeleton's.
 */
#include "base/containers/cursor.h"
#include "symbols/split/split.h"

#include <dwarf.h>

enum { RNGLISTS_HEADER_BYTES = 12 }; /* of the 32-bit format: DWARF 5, 7.28 */

struct list {
    const struct split *split;
    struct cursor at;
    uint64_t base;
    bool is_version_5;
};

/* The bytes of an attribute's value. */
static struct cursor value_of(const struct split *split, const Dwarf_Attribute *attribute)
{
    const struct buffer *info = &split->sections[SPLIT_INFO];
    struct cursor c = cursor_of(info->bytes, info->size);
    cursor_seek(&c, (uint64_t)(attribute->valp - info->bytes));
    return c;
}

/* The start of the list in DW_AT_ranges. */
static bool open_list(struct list *list, Dwarf_Attribute *attribute)
{
    const struct buffer *lists = &list->split->sections[SPLIT_RNGLISTS];
    struct cursor value = value_of(list->split, attribute);
    uint64_t offset;
    list->at = list->is_version_5 ? cursor_of(lists->bytes, lists->size)
                                  : cursor_of(list->split->ranges, list->split->ranges_bytes);
    if (attribute->form == DW_FORM_rnglistx) {
        uint64_t index = cursor_uleb128(&value);
        if (index > UINT32_MAX)
            return false;
        cursor_seek(&list->at, RNGLISTS_HEADER_BYTES + index * 4);
        offset = RNGLISTS_HEADER_BYTES + (uint64_t)cursor_u32(&list->at);
    } else {
        offset = cursor_u32(&value);
    }
    cursor_seek(&list->at, offset);
    return !list->at.failed && !value.failed;
}

/* .debug_addr here starts with the unit's own part. */
static uint64_t indexed_address(struct list *list)
{
    uint64_t index = cursor_uleb128(&list->at);
    Elf_Scn *section = elf_handle_section(list->split->handle.elf, ".debug_addr");
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    struct cursor c = data ? cursor_of(data->d_buf, data->d_size) : cursor_of(NULL, 0);
    cursor_seek(&c, index < UINT32_MAX ? index * 8 : UINT64_MAX);
    uint64_t svma = cursor_u64(&c);
    list->at.failed |= c.failed;
    return svma;
}

/* The next range; false at the end. DWARF 4, 2.17.3: a start of ~0 sets the base. */
static bool next_4(struct list *list, Dwarf_Addr *start, Dwarf_Addr *end)
{
    for (;;) {
        *start = cursor_u64(&list->at);
        *end = cursor_u64(&list->at);
        if (list->at.failed || (*start == 0 && *end == 0))
            return false;
        if (*start != UINT64_MAX)
            break;
        list->base = *end;
    }
    *start += list->base;
    *end += list->base;
    return true;
}

/* DWARF 5, 7.25. DW_RLE_end_of_list, and unknown entries, end the list. */
static bool next_5(struct list *list, Dwarf_Addr *start, Dwarf_Addr *end)
{
    for (;;) {
        switch (cursor_u8(&list->at)) {
        case DW_RLE_base_addressx:
            list->base = indexed_address(list);
            continue;
        case DW_RLE_base_address:
            list->base = cursor_u64(&list->at);
            continue;
        case DW_RLE_startx_endx:
            *start = indexed_address(list);
            *end = indexed_address(list);
            break;
        case DW_RLE_startx_length:
            *start = indexed_address(list);
            *end = *start + cursor_uleb128(&list->at);
            break;
        case DW_RLE_offset_pair:
            *start = list->base + cursor_uleb128(&list->at);
            *end = list->base + cursor_uleb128(&list->at);
            break;
        case DW_RLE_start_end:
            *start = cursor_u64(&list->at);
            *end = cursor_u64(&list->at);
            break;
        case DW_RLE_start_length:
            *start = cursor_u64(&list->at);
            *end = *start + cursor_uleb128(&list->at);
            break;
        default:
            return false;
        }
        return !list->at.failed;
    }
}

int split_ranges(const struct split *split, Dwarf_Die *die, split_range_handler *handle,
                 void *context)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr start, end;
    if (!dwarf_attr(die, DW_AT_ranges, &attribute))
        return dwarf_lowpc(die, &start) == 0 && dwarf_highpc(die, &end) == 0
                   ? handle(context, start, end)
                   : 0;
    Dwarf_Half version = 0;
    struct list list = {.split = split, .base = split->base_svma};
    (void)dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
    list.is_version_5 = version >= 5;
    int err = 0;
    if (open_list(&list, &attribute))
        while (err == 0 &&
               (list.is_version_5 ? next_5(&list, &start, &end) : next_4(&list, &start, &end)))
            err = handle(context, start, end);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "elf/build_id_note.h"

#include "base/containers/cursor.h"

#include <elf.h>
#include <string.h>

enum { ID_BYTES_MAX = 20 };

static uint64_t padded(uint32_t bytes)
{
    return ((uint64_t)bytes + 3) & ~UINT64_C(3);
}

const uint8_t *build_id_note(const void *notes, size_t notes_bytes, size_t *id_bytes)
{
    struct cursor c = cursor_of(notes, notes_bytes);
    while (cursor_left(&c) > 0 && !c.failed) {
        uint32_t name_bytes = cursor_u32(&c), bytes = cursor_u32(&c);
        uint32_t type = cursor_u32(&c);
        const uint8_t *name = cursor_bytes(&c, padded(name_bytes));
        const uint8_t *description = cursor_bytes(&c, padded(bytes));
        bool is_id = name && description && type == NT_GNU_BUILD_ID && name_bytes == 4 &&
                     memcmp(name, "GNU", 4) == 0 && bytes > 0;
        if (!is_id)
            continue;
        *id_bytes = bytes;
        return description;
    }
    *id_bytes = 0;
    return NULL;
}

size_t build_id_note_find(const void *notes, size_t notes_bytes, uint8_t id[20])
{
    size_t bytes;
    const uint8_t *found = build_id_note(notes, notes_bytes, &bytes);
    size_t kept = bytes < ID_BYTES_MAX ? bytes : ID_BYTES_MAX;
    if (found)
        memcpy(id, found, kept);
    return kept;
}

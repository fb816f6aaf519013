/* SPDX-License-Identifier: MIT */
#include "elf/elf_note.h"

bool elf_note_next(struct cursor *c, struct elf_note *note)
{
    if (cursor_left(c) == 0)
        return false;
    uint64_t name_bytes = cursor_u32(c);
    uint64_t description_bytes = cursor_u32(c);
    note->type = cursor_u32(c);
    note->name = cursor_sub(c, name_bytes);
    cursor_skip(c, -name_bytes & 3);
    note->description = cursor_sub(c, description_bytes);
    bool is_whole = !c->failed;
    cursor_skip(c, -description_bytes & 3); /* the last note may lack its padding */
    return is_whole;
}

/* SPDX-License-Identifier: MIT */
/* The notes of a segment or section. */
#pragma once

#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_note {
    uint32_t type;
    struct cursor name, description; /* the name with its 0 */
};

/* False: the end, or a malformed note. Names and descriptions are padded to 4. Only GNU property
 * notes are padded to 8, and their sizes are the same with both paddings. */
bool elf_note_next(struct cursor *c, struct elf_note *note);

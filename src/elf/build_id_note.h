/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The GNU build-id among the bytes of ELF notes, padded to 4 bytes (elf(5)); borrowed. NULL:
 * none. */
const uint8_t *build_id_note(const void *notes, size_t notes_bytes, size_t *id_bytes);
/* Copies at most 20 bytes. Returns the size; 0: none. */
size_t build_id_note_find(const void *notes, size_t notes_bytes, uint8_t id[20]);

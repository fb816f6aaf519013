/* SPDX-License-Identifier: MIT */
/*
 * Interning: equal byte strings get equal, dense ids (0, 1, 2, … in order of first appearance).
 * Names, frames and stacks are all kept this way, keyed by their bytes (padding must be zeroed).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern; /* opaque */

struct intern *intern_new(void);
void intern_free(struct intern *intern);

/* The id of these bytes, added when new; INTERN_NONE when memory is out. The bytes are copied. */
uint32_t intern_add(struct intern *intern, const void *bytes, size_t size);
uint32_t intern_text(struct intern *intern, const char *text);

/* The id of these bytes, or INTERN_NONE when they were never added. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size);

uint32_t intern_count(const struct intern *intern);

/* The bytes of an id, 8-byte aligned and followed by a NUL; valid until the next intern_add(). */
const void *intern_bytes(const struct intern *intern, uint32_t id, size_t *size);
const char *intern_string(const struct intern *intern, uint32_t id);

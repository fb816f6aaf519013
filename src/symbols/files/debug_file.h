/* SPDX-License-Identifier: MIT */
/*
 * Separate debug files: what a stripped file's distribution ships beside it.
 *
 *     by build-id    <debug directory>/.build-id/ab/cdef….debug      its build-id must be the same
 *     by debuglink   <directory of the file>/NAME                    the CRC-32 of the file must be
 *                    <directory of the file>/.debug/NAME             the one that the link states
 *                    <debug directory>/<directory of the file>/NAME
 */
#pragma once

#include "symbols/config.h"
#include "symbols/files/elf_handle.h"

/* Opens the debug file of an image that was opened from path. 0, or -ENOENT. */
int debug_file_open(struct elf_handle *out, const struct elf_handle *handle, const char *path,
                    const char *debug_directory);

/* Opens what was fetched under that build-id. 0, or -ENOENT, …. */
int debug_file_open_fetched(struct elf_handle *out, const struct symbols_config *config,
                            const uint8_t *id, size_t id_bytes);

/* Opens the file at path if it has that build-id. 0, or -ENOENT, …. */
int debug_file_open_if_same(struct elf_handle *out, const char *path, const uint8_t *id,
                            size_t id_bytes);

/* SPDX-License-Identifier: MIT */
/*
 * Separate debug files of stripped files.
 *
 *     by build-id    <debug directory>/.build-id/ab/cdef….debug      with the same build-id
 *     by debuglink   <directory of the file>/NAME                    with the CRC-32 of the link
 *                    <directory of the file>/.debug/NAME
 *                    <debug directory>/<directory of the file>/NAME
 */
#pragma once

#include "symbols/config.h"
#include "symbols/files/elf_handle.h"

/* Opens the debug file of `handle`, a file at path. 0 or -ENOENT. */
int debug_file_open(struct elf_handle *out, const struct elf_handle *handle, const char *path,
                    const char *debug_directory);

/* Opens the downloaded file of a build-id. 0, -ENOENT, … */
int debug_file_open_fetched(struct elf_handle *out, const struct symbols_config *config,
                            const uint8_t *id, size_t id_bytes);

/* Opens the file at path if the build-id is the same. 0, -ENOENT, … */
int debug_file_open_if_same(struct elf_handle *out, const char *path, const uint8_t *id,
                            size_t id_bytes);

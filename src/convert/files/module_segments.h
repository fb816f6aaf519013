/* SPDX-License-Identifier: MIT */
/*
 * The segments of a mapped file, for the conversion of runtime addresses to svmas.
 *
 * svma = avma - bias, and the bias needs the program headers. They are stored with the names: an
 * address has the same svma on every converting machine, with or without the file. If the segments
 * are neither stored nor readable, the svma is the offset in the file.
 */
#pragma once

#include "elf/elf_file.h"

#include <stdbool.h>

struct module_segments {
    bool is_known;
    uint64_t base_svma;           /* the first PT_LOAD, page aligned down */
    struct elf_segment *segments; /* owned; the executable PT_LOADs */
    size_t segment_count, segment_capacity;
};

/* Opens a mapped file, or this process's vDSO under "[vdso]". The build-id must match the given
 * build-id (0 bytes: any file; never for the vDSO), else -ESTALE. -ENOEXEC: not a regular file,
 * or an unsupported ELF file. *elf is NULL after a failure. */
int module_file_open(struct elf_file **elf, const char *path, const uint8_t *build_id,
                     size_t build_id_bytes);

/* The separate debug file by build-id below debug_directory; NULL: there is none. */
struct elf_file *module_file_open_debug(const struct elf_file *elf, const char *debug_directory);

/* Reads the segments of the file at path, or of this process's vDSO for "[vdso]". The build-id
 * must match the given build-id (0 bytes: any file; never for the vDSO), else the segments stay
 * unknown. 0 or -ENOMEM. */
int module_segments_read(struct module_segments *segments, const char *path,
                         const uint8_t *build_id, size_t build_id_bytes);
int module_segments_copy(struct module_segments *segments, const struct module_segments *from);
void module_segments_free(struct module_segments *segments);

/* avma - svma in a mapping. */
uint64_t module_segments_bias(const struct module_segments *segments, uint64_t start_avma,
                              uint64_t file_offset);

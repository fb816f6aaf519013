/* SPDX-License-Identifier: MIT */
#include "convert/files/module_segments.h"

#include "base/containers/array.h"
#include "base/files/foreign_file.h"
#include "convert/files/vdso.h"
#include "symbols/files/debug_path.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_path(struct elf_file **elf, const char *path)
{
    int fd = foreign_file_open(path, rights_reader(), NULL);
    if (fd < 0)
        return fd;
    int err = elf_open(elf, fd, NULL);
    close(fd);
    return err;
}

static int open_vdso(struct elf_file **elf, const uint8_t *build_id, size_t build_id_bytes)
{
    size_t size;
    const void *bytes = vdso_of_build_id(build_id, build_id_bytes, &size);
    return bytes ? elf_open_memory(elf, bytes, size, NULL) : -ENOENT;
}

/* base_svma as in formats with relative addresses: the page of the first PT_LOAD, executable or
 * not. Addresses of code need the executable ones alone. */
static int copy_segments(struct module_segments *segments, const struct elf_file *elf)
{
    bool is_first = true;
    for (size_t i = 0; i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        if (segment->type != PT_LOAD)
            continue;
        if (is_first)
            segments->base_svma = segment->svma & ~UINT64_C(0xfff);
        is_first = false;
        if (!(segment->flags & PF_X))
            continue;
        struct elf_segment *copy =
            ARRAY_PUSH(segments->segments, segments->segment_count, segments->segment_capacity);
        if (!copy)
            return -ENOMEM;
        *copy = *segment;
    }
    segments->is_known = true;
    return 0;
}

int module_file_open(struct elf_file **elf, const char *path, const uint8_t *build_id,
                     size_t build_id_bytes)
{
    bool is_vdso = strcmp(path, "[vdso]") == 0;
    *elf = NULL;
    int err = is_vdso ? open_vdso(elf, build_id, build_id_bytes) : open_path(elf, path);
    if (err != 0)
        return err;
    uint8_t found[20];
    size_t found_bytes = elf_build_id(*elf, found);
    /* perf records up to 20 bytes of a build-id; the file may have more. */
    if (found_bytes >= build_id_bytes && memcmp(found, build_id, build_id_bytes) == 0)
        return 0;
    elf_close(*elf);
    *elf = NULL;
    return -ESTALE;
}

struct elf_file *module_file_open_debug(const struct elf_file *elf, const char *debug_directory)
{
    uint8_t id[20];
    struct buffer path = {0};
    struct elf_file *debug = NULL;
    size_t id_bytes = elf_build_id(elf, id);
    if (debug_path_of_build_id(&path, debug_directory, id, id_bytes))
        (void)module_file_open(&debug, (char *)path.bytes, id, id_bytes);
    buffer_free(&path);
    return debug;
}

int module_segments_read(struct module_segments *segments, const char *path,
                         const uint8_t *build_id, size_t build_id_bytes)
{
    *segments = (struct module_segments){0};
    struct elf_file *elf;
    int err = module_file_open(&elf, path, build_id, build_id_bytes);
    if (err == 0)
        err = copy_segments(segments, elf);
    elf_close(elf);
    return err == -ENOMEM ? err : 0;
}

int module_segments_copy(struct module_segments *segments, const struct module_segments *from)
{
    *segments = (struct module_segments){.is_known = from->is_known, .base_svma = from->base_svma};
    for (size_t i = 0; i < from->segment_count; i++) {
        struct elf_segment *copy =
            ARRAY_PUSH(segments->segments, segments->segment_count, segments->segment_capacity);
        if (!copy)
            return -ENOMEM;
        *copy = from->segments[i];
    }
    return 0;
}

void module_segments_free(struct module_segments *segments)
{
    free(segments->segments);
    *segments = (struct module_segments){0};
}

uint64_t module_segments_bias(const struct module_segments *segments, uint64_t start_avma,
                              uint64_t file_offset)
{
    uint64_t bias;
    if (segments->is_known && elf_segments_bias(segments->segments, segments->segment_count,
                                                start_avma, file_offset, &bias) == 0)
        return bias;
    return start_avma - file_offset;
}

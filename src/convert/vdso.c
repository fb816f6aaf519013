/* SPDX-License-Identifier: MIT */
#include "convert/vdso.h"

#include "base/buffer.h"
#include "base/io.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

enum { MAPS_LIMIT = 1 << 26 };

/* How far the mapping that starts at this address reaches. */
static size_t mapped_bytes(const char *maps, unsigned long start)
{
    char prefix[32];
    snprintf(prefix, sizeof(prefix), "%lx-", start);
    for (const char *line = maps; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        unsigned long end;
        if (strncmp(line, prefix, strlen(prefix)) == 0 &&
            sscanf(line + strlen(prefix), "%lx", &end) == 1)
            return end - start;
    }
    return 0;
}

static size_t read_size(unsigned long start)
{
    struct buffer maps = {0};
    size_t size = 0;
    if (io_read_file("/proc/self/maps", &maps, MAPS_LIMIT) == 0) {
        buffer_u8(&maps, 0);
        if (!maps.failed)
            size = mapped_bytes((char *)maps.bytes, start);
    }
    buffer_free(&maps);
    return size;
}

/* Where it lies does not change, and the list of all mappings takes the kernel long. */
static const void *vdso_image(size_t *size)
{
    static size_t found;
    unsigned long start = getauxval(AT_SYSINFO_EHDR);
    if (start && found == 0)
        found = read_size(start);
    *size = found;
    return found ? (const void *)start : NULL;
}

const void *vdso_of_build_id(const uint8_t *build_id, size_t build_id_bytes, size_t *size)
{
    const void *bytes = vdso_image(size);
    struct elf_file *elf;
    if (!bytes || build_id_bytes == 0 || elf_open_memory(&elf, bytes, *size, NULL) != 0)
        return NULL;
    uint8_t found[20];
    bool is_same =
        elf_build_id(elf, found) == build_id_bytes && memcmp(found, build_id, build_id_bytes) == 0;
    elf_close(elf);
    return is_same ? bytes : NULL;
}

void vdso_add_build_id(struct perfdata_event *mapping, const char *os_release)
{
    struct utsname running;
    struct elf_file *elf;
    size_t size;
    bool is_32_bit = mapping->start_avma <= UINT32_MAX; /* the kernel maps that of others above */
    if (mapping->build_id_bytes || strcmp(mapping->path, "[vdso]") != 0 || is_32_bit ||
        !os_release || uname(&running) != 0 || strcmp(running.release, os_release) != 0)
        return;
    const void *bytes = vdso_image(&size);
    if (!bytes || elf_open_memory(&elf, bytes, size, NULL) != 0)
        return;
    mapping->build_id_bytes = elf_build_id(elf, mapping->build_id);
    elf_close(elf);
}

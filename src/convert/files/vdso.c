/* SPDX-License-Identifier: MIT */
#include "convert/files/vdso.h"

#include "elf/elf_file.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

/* The end of the image, from the headers. The kernel wrote these, so they are trusted; /proc
 * would have the size, too, but is out of reach in confined processes. */
static size_t image_bytes(const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = (const void *)((const char *)header + header->e_phoff);
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (size_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_offset + segments[i].p_filesz > end)
            end = segments[i].p_offset + segments[i].p_filesz;
    return end;
}

static const void *vdso_image(size_t *size)
{
    const void *start = (const void *)getauxval(AT_SYSINFO_EHDR);
    *size = start ? image_bytes(start) : 0;
    return start;
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
    bool is_32_bit = mapping->start_avma <= UINT32_MAX; /* the kernel maps the 64-bit vDSO above */
    if (mapping->build_id_bytes || strcmp(mapping->path, "[vdso]") != 0 || is_32_bit ||
        !os_release || uname(&running) != 0 || strcmp(running.release, os_release) != 0)
        return;
    const void *bytes = vdso_image(&size);
    if (!bytes || elf_open_memory(&elf, bytes, size, NULL) != 0)
        return;
    mapping->build_id_bytes = elf_build_id(elf, mapping->build_id);
    elf_close(elf);
}

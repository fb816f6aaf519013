/* SPDX-License-Identifier: MIT */
/* A file that is a header and a compressed section behind it. */
#pragma once

#include "elf/elf_file.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* packed: what zlib made of plain_bytes, or is damaged so. */
static inline struct elf_file *packed_section_open(const uint8_t *packed, size_t packed_bytes,
                                                   size_t plain_bytes, struct elf_section *section)
{
    struct elf_file *elf;
    const Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = plain_bytes};
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(header)};
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
    assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
    assert_int_equal(write(fd, packed, packed_bytes), packed_bytes);
    *section = (struct elf_section){
        .flags = SHF_COMPRESSED, .offset = sizeof(header), .bytes = sizeof(head) + packed_bytes};
    assert_int_equal(elf_open(&elf, fd, NULL), 0);
    close(fd);
    return elf;
}

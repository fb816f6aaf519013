/* SPDX-License-Identifier: MIT */
/*
 * ELF images put together from sections: debug info that libdw cannot read where it lies (compressed by
 * zstd, in a file of its own, packed with others in a .dwp) is handed to it as a file that exists in
 * memory only. The sections' bytes are borrowed, so that units of one .dwp share what they share.
 */
#pragma once

#include "base/containers/buffer.h"
#include "symbols/files/elf_handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_BUILD_SECTIONS = 24 };

struct elf_build {
    struct {
        const char *name;  /* borrowed until elf_build_finish() */
        const void *bytes; /* borrowed as long as the image lives */
        size_t size;
    } sections[ELF_BUILD_SECTIONS];
    size_t count;
};

/* Adds a section; an empty one, and one too many, is left out. */
void elf_build_add(struct elf_build *build, const char *name, const void *bytes, size_t size);

/* 0, -ENOMEM, or -ENOEXEC. */
int elf_build_finish(const struct elf_build *build, struct elf_handle *out);

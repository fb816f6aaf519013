/* SPDX-License-Identifier: MIT */
/*
 * ELF files in memory, built from sections, for debug info that libdw cannot read in place:
 * compressed by zstd, split into files of its own, or packed with others in a .dwp. The bytes of
 * sections are borrowed, so units of a .dwp share common sections.
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

/* Adds a section, unless the section is empty or all places are taken. */
void elf_build_add(struct elf_build *build, const char *name, const void *bytes, size_t size);

/* 0, -ENOMEM, or -ENOEXEC. */
int elf_build_finish(const struct elf_build *build, struct elf_handle *out);

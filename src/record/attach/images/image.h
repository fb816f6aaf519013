/* SPDX-License-Identifier: MIT */
/*
 * The modules of a running process, by its memory and mappings.
 *
 *     /proc/PID/maps ─▶ parts of a file, one behind the other ─▶ image
 *     memory at offset 0 of the file ─▶ segments, build-id       (the file may be gone)
 *     the mapped file itself ─▶ available symbols
 */
#pragma once

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IMAGE_PATH_BYTES 1024
#define IMAGE_SEGMENTS_MAX 16

enum image_state {
    IMAGE_OF_FILE,  /* the file at the path is the mapped file */
    IMAGE_DELETED,  /* no file at the path */
    IMAGE_REPLACED, /* another file at the path */
    IMAGE_MEMFD,
    IMAGE_VDSO,
};
const char *image_state_name(enum image_state state);

/* Bits of image.symbols. */
enum {
    IMAGE_SYMTAB = 1,      /* .symtab */
    IMAGE_DYNSYM = 2,      /* .dynsym */
    IMAGE_DEBUG_INFO = 4,  /* .debug_info */
    IMAGE_DEBUG_DATA = 8,  /* .gnu_debugdata: a compressed symbol table */
    IMAGE_GO_TABLE = 16,   /* .gopclntab */
    IMAGE_DEBUG_FILE = 32, /* a separate debug file with this build-id */
};
#define IMAGE_SYMBOLS 6
extern const char *const image_symbols_names[IMAGE_SYMBOLS];

struct image {
    char path[IMAGE_PATH_BYTES]; /* as in /proc/PID/maps; longer paths are cut */
    uint64_t start_avma, end_avma;
    uint64_t bias;   /* avma - svma */
    bool has_header; /* the ELF header was read: bias, segments and build-id are known */
    enum image_state state;
    uint8_t build_id[20];
    uint32_t build_id_bytes;
    uint32_t segment_count; /* PT_LOAD */
    struct elf_segment segments[IMAGE_SEGMENTS_MAX];
    uint32_t symbols; /* bits of available symbols */
};

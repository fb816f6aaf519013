/* SPDX-License-Identifier: MIT */
/* The code of the running kernel: its place in memory and its build-id. */
#pragma once

#include "perfdata/writer.h"

#include <stdint.h>
#include <stdio.h>

struct kernel_image {
    uint64_t text_avma; /* of the symbol _text: the start */
    uint8_t build_id[20];
    size_t build_id_bytes; /* 0: unknown */
};

/* From /proc/kallsyms and the bytes of /sys/kernel/notes. -EACCES: the addresses are hidden. */
int kernel_image_parse(struct kernel_image *image, FILE *symbols, const void *notes,
                       size_t notes_bytes);

/* 0, or a negative errno. -EACCES: the addresses are hidden. */
int kernel_image_read(struct kernel_image *image);

/* Writes the mapping of the kernel, if its addresses can be read. */
void kernel_image_write(struct perfdata_writer *file, uint64_t time_ns);

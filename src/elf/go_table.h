/* SPDX-License-Identifier: MIT */
/*
 * The function table of Go programs (.gopclntab), present in stripped programs too: names, files,
 * lines, and the distance between SP and the frame's end for each PC. Go 1.18 and later
 * (runtime/symtab.go, cmd/link/internal/ld/pcln.go of Go 1.26):
 *
 *     header │ names │ file numbers │ file names │ values │ (entry, record)… │ records
 *
 * Values are runs: a change of the value, and the length of code with the new value.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/cursor.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_table {
    struct buffer bytes; /* owned */
    uint64_t text_svma;  /* entries of functions count from here */
    uint32_t quantum;    /* bytes of the shortest instruction */
    size_t count;        /* functions */
    struct cursor names, units, files, values, functions;
};

/* Reads the table of a file. -ENOENT: no table, or of an unknown version; -EBADMSG, -ENOMEM. */
int go_table_open(struct go_table *table, const struct elf_file *elf);
/* The same for the content of the section, taken over even on failure. text_svma: where the header
 * has none. */
int go_table_parse(struct go_table *table, struct buffer *section, uint64_t text_svma);
void go_table_close(struct go_table *table);

struct go_function {
    uint64_t start_svma, end_svma;
    const char *name; /* in the table */
    uint32_t sp_values, file_values, line_values;
    uint32_t unit;
};
/* False: malformed. */
bool go_table_function(const struct go_table *table, size_t index, struct go_function *function);
/* The function around the address; false: none. */
bool go_table_find(const struct go_table *table, uint64_t svma, struct go_function *function);

/* A run: the value holds for the code offsets [start, end) of the function. */
struct go_values {
    struct cursor bytes;
    uint32_t quantum;
    uint64_t start, end;
    int32_t value;
};
/* values: go_function.*_values. */
struct go_values go_table_values(const struct go_table *table, uint32_t values);
/* False: no further run. */
bool go_values_next(struct go_values *values);

/* The position of an instruction; file NULL or line 0: unknown. */
struct go_position {
    const char *file; /* in the table */
    uint32_t line;
};
struct go_position go_table_position(const struct go_table *table,
                                     const struct go_function *function, uint64_t svma);

/* SPDX-License-Identifier: MIT */
/*
 * .debug_line: which file and line an address belongs to. libdw 0.188 makes a list of all rows of a unit,
 * sorts it, and spells out all names of files, also where only a file's name is asked for; that was a fifth of
 * the time of converting a small recording.
 *
 *     unit ── DW_AT_stmt_list ──▶ header: directories, files │ program: rows (address, file, line, column)
 *                                 read when first asked for   run when a line is first asked for
 *
 * Versions 2 to 5. Names lie where the debug info lies and are joined when they are asked for: a header of a
 * megabyte can name a terabyte.
 */
#pragma once

#include "base/containers/cursor.h"
#include "base/containers/intern.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_sections { /* of one file of debug info */
    Dwarf *dwarf;
    struct cursor line, line_str, str;
};

struct line_file {
    uint64_t directory;
    const char *name; /* NULL: it lies in a file that is not there */
    char *path;       /* owned; both joined; NULL: not yet, or nothing to join */
};

struct line_row {
    uint64_t svma;
    uint32_t file, line, column;
    uint32_t order : 31; /* while they are sorted */
    uint32_t is_end : 1; /* nothing is known from here on */
};

struct line_table {
    unsigned version;
    uint8_t instruction_bytes, line_range, opcode_base;
    int8_t line_base;
    uint8_t operand_counts[256]; /* of standard opcodes */
    struct cursor program;
    const char **directories; /* [0]: where the unit was compiled */
    size_t directory_count, directory_capacity;
    struct line_file *files;
    size_t file_count, file_capacity;
    bool has_rows, is_damaged; /* not all that is in the program */
    struct line_row *rows;     /* by svma */
    size_t row_count, row_capacity;
};

/* Reads a header at an offset. directory: of compilation, or NULL. 0, -EBADMSG, -ENOTSUP: not to be
 * read here, or -ENOMEM. */
int line_header_read(struct line_table *table, const struct line_sections *sections,
                     uint64_t offset, const char *directory);

/* Runs the program. What lies before damage counts. 0 or -ENOMEM. */
int line_rows_read(struct line_table *table);

struct lines {       /* all that were asked for */
    bool is_damaged; /* a header of them */
    struct line_sections sections[8];
    size_t section_count;
    struct intern *keys; /* sections, offset -> index */
    struct line_table **tables;
    size_t count, capacity;
};

int lines_init(struct lines *lines);
void lines_free(struct lines *lines);

/* The table of a unit; NULL: it has none that can be read here. Valid until lines_free(). */
struct line_table *lines_of(struct lines *lines, Dwarf_Die *unit);

/* Whether something of what was asked for so far could not be read. */
bool lines_are_damaged(const struct lines *lines);

/* The path as the table says it, maybe relative; one pointer for each file. NULL: none. */
const char *line_table_file(struct line_table *table, uint64_t file);

/* The row that holds the address; NULL: none. */
const struct line_row *line_table_find(struct line_table *table, uint64_t svma);

/* SPDX-License-Identifier: MIT */
/*
 * .debug_line: the file and line of an address. libdw 0.188 lists and sorts all rows of a unit, and
 * builds all file names, even for a single file name: a fifth of the conversion time of a small
 * recording.
 *
 *     unit ── DW_AT_stmt_list ──▶ header: directories, files │ program: rows
 *                                 read at the first lookup   run at the first line lookup
 *
 * Versions 2 to 5. Names stay in the debug info and are joined on request: a header of a megabyte
 * can name a terabyte.
 */
#pragma once

#include "base/containers/cursor.h"
#include "base/containers/intern.h"
#include "symbols/dwarf/reading_clock.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_sections { /* of a file of debug info */
    Dwarf *dwarf;
    struct cursor line, line_str, str;
};

struct line_file {
    uint64_t directory;
    const char *name; /* NULL: in a missing file */
    char *path;       /* owned; both joined; NULL: not yet, or nothing to join */
};

struct line_row {
    uint64_t svma;
    uint32_t file, line, column;
    uint32_t order : 31; /* while they are sorted */
    uint32_t is_end : 1; /* no code from here on */
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
    bool has_rows, is_damaged; /* damaged: the program was not run to its end */
    struct line_row *rows;     /* by svma */
    size_t row_count, row_capacity;
    struct reading_clock *clock; /* as in struct lines */
};

/* Reads a header at an offset. directory: of compilation, or NULL. 0, -EBADMSG, -ENOTSUP: not to be
 * read here, or -ENOMEM. */
int line_header_read(struct line_table *table, const struct line_sections *sections,
                     uint64_t offset, const char *directory);

/* Runs the program up to its end, or to the first damage. 0 or -ENOMEM. */
int line_rows_read(struct line_table *table);

struct lines {                   /* all tables looked up so far */
    bool is_damaged;             /* a header of them */
    struct reading_clock *clock; /* borrowed; NULL: no limit */
    struct line_sections sections[8];
    size_t section_count;
    struct intern *keys; /* sections, offset -> index */
    struct line_table **tables;
    size_t count, capacity;
};

int lines_init(struct lines *lines);
void lines_free(struct lines *lines);

/* The table of a unit; NULL: none, or not readable here. Valid until lines_free(). */
struct line_table *lines_of(struct lines *lines, Dwarf_Die *unit);

/* Whether some table looked up so far is damaged. */
bool lines_are_damaged(const struct lines *lines);

/* The path as in the table, maybe relative; one pointer for each file. NULL: none. */
const char *line_table_file(struct line_table *table, uint64_t file);

/* The row of an address; NULL: none. */
const struct line_row *line_table_find(struct line_table *table, uint64_t svma);

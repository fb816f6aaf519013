/* SPDX-License-Identifier: MIT */
/*
 * Functions in debug info. All inlined copies and out-of-line instances of a function share a
 * `struct function`, and thereby the name:
 *
 *     concrete subprogram  ──abstract_origin──▶ ┌ subprogram ┐ ──specification──▶ declaration
 *     inlined subroutine   ──abstract_origin──▶ └ (key)      ┘                    in its class
 *
 * Links may cross units (link-time optimisation) and files (dwz).
 */
#pragma once

#include "base/containers/intern.h"
#include "symbols/dwarf/die_parents.h"
#include "symbols/dwarf/lines.h"
#include "symbols/dwarf/source_paths.h"
#include "symbols/symtab/symtab_load.h"

#include <elfutils/libdw.h>

struct function {
    const char *name;        /* readable; NULL: not looked up yet */
    const char *system_name; /* linkage name; the same pointer if not mangled */
    const char *definition_file;
    uint32_t definition_line;
    uint64_t entry_svma; /* of an out-of-line instance; 0: none seen */
    char *owned;         /* the text of name */
};

struct functions {
    struct intern *keys; /* DIE address -> index */
    struct function *functions;
    size_t count, capacity;
    struct die_parents parents;
    unsigned nesting;           /* depth of names built from names */
    struct source_paths *paths; /* borrowed */
    struct lines *lines;        /* borrowed */
    struct symtab_files *files; /* borrowed */
    struct symtab symtab;       /* whole: instances are anywhere */
    bool has_symtab;            /* symtab was loaded */
    bool has_unnamed;           /* some function has an unreadable name */
};

int functions_init(struct functions *functions, struct source_paths *paths, struct lines *lines,
                   struct symtab_files *files);
void functions_free(struct functions *functions);

/* Notes where an out-of-line instance starts; 0 or -ENOMEM. */
int functions_note_entry(struct functions *functions, Dwarf_Die *die, uint64_t entry_svma);

/* The function of a subprogram or inlined subroutine; valid until the next call. NULL: out of
 * memory. */
const struct function *functions_get(struct functions *functions, Dwarf_Die *die);

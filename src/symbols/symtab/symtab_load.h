/* SPDX-License-Identifier: MIT */
/* Which of a module's symbol tables are read, wherever they lie. */
#pragma once

#include "symbols/files/elf_handle.h"
#include "symbols/symtab/symtab.h"

struct symtab_files {
    struct elf_handle main;  /* the file as mapped */
    struct elf_handle debug; /* its separate debug file, if there is one */
    struct elf_handle data;  /* .gnu_debugdata: used when both are without .symtab */
    /* "symtab", "debugdata", "dynsym", "none": what the last table was made of. */
    const char *source;
};

void symtab_files_init(struct symtab_files *files);
void symtab_files_close(struct symtab_files *files);

/* .symtab, or .dynsym with what .gnu_debugdata adds: it leaves out what .dynsym has; and stubs. The table is ready
 * then, the files must outlive it. 0 or -ENOMEM. */
int symtab_load(struct symtab *symtab, struct symtab_files *files);

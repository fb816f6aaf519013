/* SPDX-License-Identifier: MIT */
/* Reading the symbol tables of a module, from all of its files. */
#pragma once

#include "symbols/files/elf_handle.h"
#include "symbols/symtab/symtab.h"

struct symtab_files {
    struct elf_handle main;  /* the file as mapped */
    struct elf_handle debug; /* its separate debug file, if any */
    struct elf_handle data;  /* .gnu_debugdata: used when both are without .symtab */
    /* "symtab", "debugdata", "dynsym", "none": source of the last table. */
    const char *source;
};

void symtab_files_init(struct symtab_files *files);
void symtab_files_close(struct symtab_files *files);

/* Reads .symtab, or .dynsym with the remaining symbols of .gnu_debugdata; and PLT stubs. Finishes
 * the table; the files must outlive the table. 0 or -ENOMEM. */
int symtab_load(struct symtab *symtab, struct symtab_files *files);

/* SPDX-License-Identifier: MIT */
/*
 * The named pieces of machine code of one module: .symtab or .dynsym, and the PLT.
 *
 * A symbol with a size holds the addresses inside its size and no others. A symbol without one
 * (hand-written assembly) reaches to the next symbol or the end of its section, unless it lies
 * inside a symbol that has a size. Of several names for the same place the first of these decides:
 * functions before untyped labels, global before weak before local, fewer leading underscores, the
 * shorter, the alphabet.
 */
#pragma once

#include "symbols/spans.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    uint64_t svma;
    uint64_t bytes;       /* 0: unknown */
    const char *name;     /* as in the file; borrowed from the Elf, or owned below */
    char *plt_name;       /* owned; name@plt */
    char *demangled;      /* owned; see symbol_name() */
    uint32_t preference;  /* lower is better */
    uint64_t unsized_end; /* how far it reaches when it has no size */
};

struct symtab {
    struct symbol *symbols; /* by address, then by preference, the best first */
    size_t count, capacity;
    struct spans spans; /* value: index in symbols */
};

void symtab_free(struct symtab *symtab);

/* Whether there is a section of this type (SHT_SYMTAB, SHT_DYNSYM). */
bool symtab_is_in(Elf *elf, uint32_t section_type);

/* Adds the code symbols of a section of this type (SHT_SYMTAB, SHT_DYNSYM). 0, -ENOENT when there
 * is no such section, or -ENOMEM. The Elf must outlive the table. */
int symtab_add_section(struct symtab *symtab, Elf *elf, uint32_t section_type);

/* Adds one symbol; name is copied. */
int symtab_add_plt(struct symtab *symtab, uint64_t svma, uint64_t bytes, const char *name);

/* Once, after everything was added and before the first find. 0 or -ENOMEM. */
int symtab_finish(struct symtab *symtab);

/* The symbol that holds an address, or NULL. */
struct symbol *symtab_find(const struct symtab *symtab, uint64_t svma);

/* The readable name. */
const char *symbol_name(struct symbol *symbol);

/* SPDX-License-Identifier: MIT */
/*
 * The named pieces of machine code of one module: .symtab or .dynsym, and the PLT.
 *
 * A symbol with a size holds the addresses inside its size and no others. A symbol without one
 * (hand-written assembly) reaches to the next symbol or the end of its section, unless it lies
 * inside a symbol that has a size. Where symbols overlap, the one that starts later wins. Of several
 * names for the same place the first of these decides: a size before none, functions before untyped
 * labels, global before weak before local, fewer leading underscores, the shorter, the alphabet.
 *
 * Tables have 100 000 symbols, and few of them are asked for. Where it is known which addresses will be, others are
 * not kept (wanted.h); where it is not, names are not looked at before: node's take 7.5 MB of its file. Of the file's
 * pages few are in memory at once.
 */
#pragma once

#include "symbols/files/elf_handle.h"
#include "symbols/symtab/address_filter.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    uint64_t svma, end;
    const char *name; /* as in the file; borrowed */
    uint8_t rank;     /* by type and binding; lower is better */
    bool is_sized;    /* otherwise its end is a guess */
    bool is_plt;
    /* Of the first at its place: the first at the place around it, and whether the best is first now. */
    bool is_ordered;
    uint32_t outer;
};

struct symtab {
    struct address_filter filter; /* until it is finished */
    struct symbol *symbols;       /* by address */
    size_t count, capacity;
    size_t most_read; /* of a section; 0: all. Set before the first is added */
    char **copies;    /* of names; where everything is wanted they lie in the Elf */
    size_t copy_count, copy_capacity;
    char **readable; /* by symbol, owned: names that were asked for */
};

/* wanted: the only addresses that will be looked for, ascending; none: any may be. 0 or -ENOMEM. */
int symtab_init(struct symtab *symtab, const uint64_t *needed, size_t count);
void symtab_free(struct symtab *symtab);

/* Whether there is a section of this type (SHT_SYMTAB, SHT_DYNSYM). */
bool symtab_is_in(Elf *elf, uint32_t section_type);

/* Adds the code symbols of a section of this type (SHT_SYMTAB, SHT_DYNSYM). 0, -ENOENT when there
 * is no such section, -E2BIG when it has too many, or -ENOMEM. The image must outlive the table. */
int symtab_add_section(struct symtab *symtab, const struct elf_handle *handle,
                       uint32_t section_type);

/* Whether an address of a range will be looked for. */
bool symtab_needs(const struct symtab *symtab, uint64_t svma, uint64_t end);

/* Adds the stub of a function; the function's name is borrowed. 0 or -ENOMEM. */
int symtab_add_plt(struct symtab *symtab, uint64_t svma, uint64_t bytes, const char *name);

/* Once, after everything was added and before the first find. 0 or -ENOMEM. */
int symtab_finish(struct symtab *symtab);

/* The symbol that holds an address, or NULL; good until the table is freed. */
const struct symbol *symtab_find(struct symtab *symtab, uint64_t svma);

/* What to show: demangled, "@plt" behind a stub's function. Good until the table is freed. */
const char *symtab_name(struct symtab *symtab, const struct symbol *symbol);

/* 0: unknown. */
uint64_t symbol_bytes(const struct symbol *symbol);

/* SPDX-License-Identifier: MIT */
/*
 * The named ranges of machine code of a module: .symtab or .dynsym, and the PLT.
 *
 * A symbol with a size holds exactly the addresses inside. A symbol without size (hand-written
 * assembly) reaches to the next symbol or the end of its section, unless the symbol starts inside a
 * sized symbol. Of overlapping symbols the later start wins. Of several names for a place, the
 * order of preference is: with a size, functions before untyped labels, global before weak before
 * local, fewer leading underscores, shorter, alphabetical.
 *
 * Tables have 100 000 symbols, and few are looked up. With a filter (address_filter.h) others are
 * dropped; without a filter, names are read at lookup only: node's names take 7.5 MB of the file.
 * Few pages of the file are in memory at a time.
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
    bool is_sized;    /* otherwise the end is a guess */
    bool is_plt;
    bool is_ordered; /* in the first symbol at a place: the best name is first already */
    uint64_t reach;  /* then: the furthest end of the symbols at the place so far */
};

/* The symbols at an address, by the index of the first. In hostile tables all symbols are at a
 * single place, or 100 000 places enclose each other: a lookup takes logarithmic time. */
struct symbol_place {
    uint64_t reach; /* the furthest end */
    uint32_t outer; /* the nearest earlier place with a further end */
    uint32_t jump;  /* an outer place of an outer place, many steps further */
    uint32_t depth; /* number of outer places */
};

struct symtab {
    struct address_filter filter; /* until symtab_finish() */
    struct symbol *symbols;       /* by address */
    size_t count, capacity;
    struct symbol_place *places; /* by the first symbol of each; others are unused */
    char **copies;               /* of names; without filter, names lie in the Elf */
    size_t copy_count, copy_capacity;
    char **readable; /* by symbol, owned: names looked up so far */
};

/* needed: the only addresses to be looked up, ascending; none: any. 0 or -ENOMEM. */
int symtab_init(struct symtab *symtab, const uint64_t *needed, size_t count);
void symtab_free(struct symtab *symtab);

/* Whether there is a section of this type (SHT_SYMTAB, SHT_DYNSYM). */
bool symtab_is_in(Elf *elf, uint32_t section_type);

/* Adds the code symbols of a section of this type (SHT_SYMTAB, SHT_DYNSYM). 0, -ENOENT: no such
 * section, or -ENOMEM. The handle must outlive the table. */
int symtab_add_section(struct symtab *symtab, const struct elf_handle *handle,
                       uint32_t section_type);

/* Whether an address of a range will be looked for. */
bool symtab_needs(const struct symtab *symtab, uint64_t svma, uint64_t end);

/* Adds the stub of a function; the function's name is borrowed. 0 or -ENOMEM. */
int symtab_add_plt(struct symtab *symtab, uint64_t svma, uint64_t bytes, const char *name);

/* Once, after everything was added and before the first find. 0 or -ENOMEM. */
int symtab_finish(struct symtab *symtab);

/* The symbol around an address, or NULL; valid until symtab_free(). */
const struct symbol *symtab_find(struct symtab *symtab, uint64_t svma);

/* The display name: demangled, or with "@plt" for stubs. Valid until symtab_free(). */
const char *symtab_name(struct symtab *symtab, const struct symbol *symbol);

/* 0: unknown. */
uint64_t symbol_bytes(const struct symbol *symbol);

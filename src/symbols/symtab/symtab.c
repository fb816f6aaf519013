/* SPDX-License-Identifier: MIT */
/*
 * Places (addresses where symbols start) and the places around them, linked once by nest():
 *
 *     a ├──────────────────────────┤        reach of a
 *     b     ├─────┤                         outer: a
 *     c               ├───┤                 outer: a
 *     x                         ·           c starts last before x, and ends before x: the outer
 *                                           place with an end beyond x is a
 *
 * A place hidden to the end by a later place is no outer place of further places. `jump` skips
 * outer places, so 100 000 nested places take 17 steps.
 */
#include "symbols/symtab/symtab.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"
#include "symbols/symtab/demangle.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SYMBOL = UINT32_MAX };

/* A megabyte of the file. Each time, pages with names are mapped again. */
enum { LET_GO_SYMBOLS = (1 << 20) / sizeof(Elf64_Sym) };

int symtab_init(struct symtab *symtab, const uint64_t *needed, size_t count)
{
    *symtab = (struct symtab){0};
    return count ? address_filter_init(&symtab->filter, needed, count) : 0;
}

void symtab_free(struct symtab *symtab)
{
    address_filter_free(&symtab->filter);
    for (size_t i = 0; i < symtab->copy_count; i++)
        free(symtab->copies[i]);
    free(symtab->copies);
    for (size_t i = 0; symtab->readable && i < symtab->count; i++)
        free(symtab->readable[i]);
    free(symtab->readable);
    free(symtab->places);
    free(symtab->symbols);
    *symtab = (struct symtab){0};
}

/* Where executable sections end; 0 for every other section. */
static uint64_t *section_ends(Elf *elf, size_t *count)
{
    if (elf_getshdrnum(elf, count) != 0)
        return NULL;
    uint64_t *ends = calloc(*count + 1, sizeof(*ends));
    Elf_Scn *section = NULL;
    while (ends && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        size_t index = elf_ndxscn(section);
        uint64_t end;
        if (index < *count && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
            !__builtin_add_overflow(header.sh_addr, header.sh_size, &end))
            ends[index] = end;
    }
    return ends;
}

/* Global, weak, local; symbols without type (of assembly) behind all others. */
static uint8_t rank_of(const GElf_Sym *sym)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    uint8_t rank = bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 0 : bind == STB_WEAK ? 1 : 2;
    return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE ? rank + 3 : rank;
}

static bool may_be_code(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);
    return sym->st_name != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* "$x", "$d": marks of code and data on some machines. */
static bool is_mark(const GElf_Sym *sym, const char *name)
{
    return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && name[0] == '$';
}

/* Names of a filtered table are copied: reading a name in place maps 16 pages of the file. */
static const char *keep_name(struct symtab *symtab, const char *name)
{
    if (symtab->filter.count == 0)
        return name;
    char **copy = ARRAY_PUSH(symtab->copies, symtab->copy_count, symtab->copy_capacity);
    return copy ? *copy = strdup(name) : NULL;
}

static int add_symbol(struct symtab *symtab, struct symbol symbol, uint64_t bytes)
{
    symbol.is_sized = bytes != 0;
    if (symbol.is_sized && __builtin_add_overflow(symbol.svma, bytes, &symbol.end))
        return 0;
    if (!address_filter_keeps(&symtab->filter, symbol.svma, symbol.end, symbol.is_sized))
        return 0;
    symbol.name = keep_name(symtab, symbol.name);
    struct symbol *added = ARRAY_PUSH(symtab->symbols, symtab->count, symtab->capacity);
    if (!added || !symbol.name)
        return -ENOMEM;
    *added = symbol;
    return 0;
}

/* A symbol table and its strings. Access through libelf takes longer than all other work on a
 * symbol, and remains for unusual tables only. */
struct table {
    Elf *elf;
    Elf_Data *data;
    size_t count;
    size_t strings_section;
    const char *strings; /* ends with a terminator; NULL: read through libelf */
    size_t strings_bytes;
    bool is_usual;
};

static void find_strings(struct table *table)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(table->elf, table->strings_section);
    if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB ||
        header.sh_flags & SHF_COMPRESSED)
        return;
    Elf_Data *data = elf_getdata(section, NULL);
    const char *bytes = data ? data->d_buf : NULL;
    if (!bytes || data->d_size == 0 || bytes[data->d_size - 1] != '\0')
        return;
    table->strings = bytes;
    table->strings_bytes = data->d_size;
}

static int open_table(struct table *table, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    *table = (struct table){.elf = elf, .data = elf_getdata(section, NULL)};
    if (!table->data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return -ENOENT;
    size_t count = table->data->d_size / header.sh_entsize;
    table->count = count <= INT32_MAX ? count : (size_t)INT32_MAX + 1;
    table->is_usual = table->data->d_buf && gelf_getclass(elf) == ELFCLASS64 &&
                      header.sh_entsize == sizeof(Elf64_Sym);
    table->strings_section = header.sh_link;
    find_strings(table);
    return 0;
}

/* Elf64_Sym and GElf_Sym are one type. */
static bool read_symbol(const struct table *table, size_t i, GElf_Sym *sym)
{
    if (!table->is_usual)
        return gelf_getsym(table->data, (int)i, sym) != NULL;
    memcpy(sym, (const char *)table->data->d_buf + i * sizeof(*sym), sizeof(*sym));
    return true;
}

static const char *name_of(const struct table *table, const GElf_Sym *sym)
{
    if (!table->strings)
        return elf_strptr(table->elf, table->strings_section, sym->st_name);
    return sym->st_name < table->strings_bytes ? table->strings + sym->st_name : NULL;
}

static int add_symbols(struct symtab *symtab, const struct elf_handle *handle, Elf_Scn *section,
                       const uint64_t *ends, size_t section_count)
{
    struct table table;
    int err = open_table(&table, handle->elf, section);
    for (size_t i = 1; err == 0 && i < table.count; i++) {
        GElf_Sym sym;
        if (i % LET_GO_SYMBOLS == 0)
            elf_handle_drop_pages(handle);
        if (!read_symbol(&table, i, &sym) || !may_be_code(&sym) || sym.st_shndx >= section_count ||
            sym.st_value >= ends[sym.st_shndx])
            continue;
        const char *name = name_of(&table, &sym);
        if (name && !is_mark(&sym, name))
            err = add_symbol(symtab,
                             (struct symbol){.svma = sym.st_value,
                                             .end = ends[sym.st_shndx],
                                             .name = name,
                                             .rank = rank_of(&sym)},
                             sym.st_size);
    }
    return err;
}

static Elf_Scn *section_of_type(Elf *elf, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            break;
    return section;
}

bool symtab_is_in(Elf *elf, uint32_t section_type)
{
    return section_of_type(elf, section_type) != NULL;
}

int symtab_add_section(struct symtab *symtab, const struct elf_handle *handle,
                       uint32_t section_type)
{
    size_t section_count = 0;
    Elf_Scn *section = section_of_type(handle->elf, section_type);
    GElf_Shdr header;
    bool is_read =
        section && gelf_getshdr(section, &header) && elf_handle_may_store(handle, header.sh_size);
    uint64_t *ends = is_read ? section_ends(handle->elf, &section_count) : NULL;
    if (!ends)
        return -ENOENT;
    int err = add_symbols(symtab, handle, section, ends, section_count);
    free(ends);
    elf_handle_drop_pages(handle);
    return err;
}

bool symtab_needs(const struct symtab *symtab, uint64_t svma, uint64_t end)
{
    return address_filter_has(&symtab->filter, svma, end);
}

int symtab_add_plt(struct symtab *symtab, uint64_t svma, uint64_t bytes, const char *name)
{
    return add_symbol(symtab, (struct symbol){.svma = svma, .name = name, .is_plt = true}, bytes);
}

/* The index behind the last symbol with the same start. */
static size_t place_end(const struct symtab *symtab, size_t first)
{
    size_t i = first + 1;
    while (i < symtab->count && symtab->symbols[i].svma == symtab->symbols[first].svma)
        i++;
    return i;
}

/* Sets the ends of symbols without size at a place; sized_end: the furthest end of sized symbols so
 * far. Returns the last end of a symbol with a name. */
static uint64_t end_place(struct symtab *symtab, size_t first, size_t next, uint64_t *sized_end)
{
    uint64_t svma = symtab->symbols[first].svma, last = svma;
    uint64_t limit = next < symtab->count ? symtab->symbols[next].svma : UINT64_MAX;
    for (size_t i = first; i < next; i++)
        if (symtab->symbols[i].is_sized && symtab->symbols[i].end > *sized_end)
            *sized_end = symtab->symbols[i].end;
    for (size_t i = first; i < next; i++) {
        struct symbol *symbol = &symtab->symbols[i];
        if (!symbol->is_sized)
            symbol->end = svma < *sized_end ? svma : symbol->end < limit ? symbol->end : limit;
        if (symbol->end > last && symbol->name[0] != '\0')
            last = symbol->end;
    }
    return last;
}

/* Jumps of a skew-binary list (Myers 1983): two equal jumps in a row become a jump of twice
 * the length plus one. */
static void link_place(struct symbol_place *places, uint32_t first, uint32_t outer)
{
    struct symbol_place *place = &places[first];
    place->outer = place->jump = outer;
    if (outer == NO_SYMBOL)
        return;
    const struct symbol_place *around = &places[outer];
    place->depth = around->depth + 1;
    if (around->jump == NO_SYMBOL)
        return;
    const struct symbol_place *far = &places[around->jump];
    if (far->jump != NO_SYMBOL &&
        around->depth - far->depth == far->depth - places[far->jump].depth)
        place->jump = far->jump;
}

/* Links each place to the place around. A later place with a further end hides an earlier place:
 * the earlier place has no addresses behind the later one. */
static int nest(struct symtab *symtab)
{
    struct symbol_place *places = calloc(symtab->count, sizeof(*places));
    symtab->places = places;
    if (!places)
        return -ENOMEM;
    uint64_t sized_end = 0;
    uint32_t outer = NO_SYMBOL;
    for (size_t first = 0, next; first < symtab->count; first = next) {
        next = place_end(symtab, first);
        places[first].reach = end_place(symtab, first, next, &sized_end);
        while (outer != NO_SYMBOL && places[outer].reach <= places[first].reach)
            outer = places[outer].outer;
        link_place(places, (uint32_t)first, outer);
        outer = (uint32_t)first;
    }
    return 0;
}

/* From a place outwards: the nearest place with an end beyond the address. */
static uint32_t reaching_place(const struct symtab *symtab, uint32_t first, uint64_t svma)
{
    const struct symbol_place *places = symtab->places;
    while (first != NO_SYMBOL && places[first].reach <= svma) {
        const uint32_t jump = places[first].jump;
        first = jump != NO_SYMBOL && places[jump].reach <= svma ? jump : places[first].outer;
    }
    return first;
}

int symtab_finish(struct symtab *symtab)
{
    if (symtab->count == 0)
        return 0;
    if (symtab->count > NO_SYMBOL)
        return -ENOMEM;
    address_filter_finish(&symtab->filter);
    for (size_t i = 0; i < symtab->count; i++) {
        struct symbol *symbol = &symtab->symbols[i];
        if (!symbol->is_sized)
            symbol->end = address_filter_end(&symtab->filter, symbol->svma, symbol->end);
    }
    address_filter_free(&symtab->filter);
    symtab->readable = calloc(symtab->count, sizeof(*symtab->readable));
    int err = symtab->readable ? SORT_BY(symtab->symbols, symtab->count, svma) : -ENOMEM;
    return err ? err : nest(symtab);
}

/* The better first, as malloc before __libc_malloc. */
static int compare_names(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->is_sized != b->is_sized)
        return a->is_sized ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank - b->rank;
    size_t a_underscores = strspn(a->name, "_"), b_underscores = strspn(b->name, "_");
    if (a_underscores != b_underscores)
        return a_underscores < b_underscores ? -1 : 1;
    size_t a_length = strlen(a->name), b_length = strlen(b->name);
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* At the first lookup there: few of the places are looked up. */
static void order_place(struct symbol *first, size_t count)
{
    if (first->is_ordered)
        return;
    uint64_t reach = first->svma;
    qsort(first, count, sizeof(*first), compare_names);
    for (size_t i = 0; i < count; i++) {
        if (first[i].end > reach && first[i].name[0] != '\0')
            reach = first[i].end;
        first[i].reach = reach;
    }
    first->is_ordered = true;
}

const struct symbol *symtab_find(struct symtab *symtab, uint64_t svma)
{
    struct symbol *symbols = symtab->symbols;
    size_t next = ARRAY_COUNT_UP_TO(symbols, symtab->count, svma, svma);
    if (next == 0)
        return NULL;
    size_t first = ARRAY_COUNT_BELOW(symbols, symtab->count, svma, symbols[next - 1].svma);
    first = reaching_place(symtab, (uint32_t)first, svma);
    if (first == NO_SYMBOL)
        return NULL;
    next = ARRAY_COUNT_UP_TO(symbols, symtab->count, svma, symbols[first].svma);
    order_place(&symbols[first], next - first);
    return &symbols[first + ARRAY_COUNT_UP_TO(&symbols[first], next - first, reach, svma)];
}

const char *symtab_name(struct symtab *symtab, const struct symbol *symbol)
{
    char **readable = &symtab->readable[symbol - symtab->symbols];
    if (!*readable && !symbol->is_plt)
        *readable = demangle(symbol->name);
    else if (!*readable && asprintf(readable, "%s@plt", symbol->name) < 0)
        *readable = NULL;
    return *readable ? *readable : symbol->name;
}

uint64_t symbol_bytes(const struct symbol *symbol)
{
    return symbol->is_sized ? symbol->end - symbol->svma : 0;
}

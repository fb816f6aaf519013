/* SPDX-License-Identifier: MIT */
#include "symbols/symtab.h"

#include "base/array.h"
#include "base/sort.h"
#include "symbols/demangle.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 1 << 20 };

void symtab_free(struct symtab *symtab)
{
    for (size_t i = 0; i < symtab->count; i++) {
        free(symtab->symbols[i].plt_name);
        free(symtab->symbols[i].demangled);
    }
    free(symtab->symbols);
    spans_free(&symtab->spans);
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

static uint32_t preference_of(const GElf_Sym *sym, const char *name)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    uint32_t rank = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE ? 4 : 0;
    rank += bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 0 : bind == STB_WEAK ? 1 : 2;
    size_t underscores = strspn(name, "_");
    size_t length = strnlen(name, LONGEST_NAME);
    return rank << 28 | (uint32_t)(underscores > 15 ? 15 : underscores) << 24 | (uint32_t)length;
}

static bool is_code(const GElf_Sym *sym, const char *name)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    /* "$x", "$d": marks that tell code from data on some machines. */
    return name && name[0] != '\0' && name[0] != '$';
}

static int add_symbols(struct symtab *symtab, Elf *elf, Elf_Scn *section, const uint64_t *ends,
                       size_t section_count)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return -ENOENT;
    size_t count = data->d_size / header.sh_entsize;
    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx >= section_count ||
            sym.st_value >= ends[sym.st_shndx])
            continue;
        const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
        if (!is_code(&sym, name))
            continue;
        struct symbol *symbol = ARRAY_PUSH(symtab->symbols, symtab->count, symtab->capacity);
        if (!symbol)
            return -ENOMEM;
        *symbol = (struct symbol){.svma = sym.st_value,
                                  .bytes = sym.st_size,
                                  .name = name,
                                  .preference = preference_of(&sym, name),
                                  .unsized_end = ends[sym.st_shndx]};
    }
    return 0;
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

int symtab_add_section(struct symtab *symtab, Elf *elf, uint32_t section_type)
{
    size_t section_count = 0;
    Elf_Scn *section = section_of_type(elf, section_type);
    uint64_t *ends = section ? section_ends(elf, &section_count) : NULL;
    if (!ends)
        return -ENOENT;
    int err = add_symbols(symtab, elf, section, ends, section_count);
    free(ends);
    return err;
}

int symtab_add_plt(struct symtab *symtab, uint64_t svma, uint64_t bytes, const char *name)
{
    char *copy;
    if (asprintf(&copy, "%s@plt", name) < 0)
        return -ENOMEM;
    struct symbol *symbol = ARRAY_PUSH(symtab->symbols, symtab->count, symtab->capacity);
    if (!symbol) {
        free(copy);
        return -ENOMEM;
    }
    *symbol = (struct symbol){.svma = svma, .bytes = bytes, .name = copy, .plt_name = copy};
    return 0;
}

/* Of one place. */
static int compare_names(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->preference != b->preference)
        return a->preference < b->preference ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* A symbol without a size ends where the next name is, or with its section. */
static void find_ends(struct symtab *symtab)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = symtab->count; i-- > 0;) {
        struct symbol *symbol = &symtab->symbols[i];
        if (i + 1 < symtab->count && symbol[1].svma != symbol->svma)
            next = symbol[1].svma;
        if (next < symbol->unsized_end)
            symbol->unsized_end = next;
    }
}

int symtab_finish(struct symtab *symtab)
{
    if (symtab->count == 0)
        return 0;
    int err = SORT_BY_THEN(symtab->symbols, symtab->count, svma, compare_names);
    if (err != 0)
        return err;
    find_ends(symtab);
    uint64_t sized_end = 0;
    for (size_t i = 0; i < symtab->count && i < SPAN_NONE && err == 0; i++) {
        const struct symbol *symbol = &symtab->symbols[i];
        /* Where several start together, the deepest span wins: the better, the deeper. */
        uint32_t depth = UINT32_MAX - symbol->preference;
        uint64_t end;
        if (symbol->bytes == 0 && symbol->svma >= sized_end)
            err = spans_add(&symtab->spans, symbol->svma, symbol->unsized_end, depth, (uint32_t)i);
        else if (!__builtin_add_overflow(symbol->svma, symbol->bytes, &end)) {
            err = spans_add(&symtab->spans, symbol->svma, end, depth, (uint32_t)i);
            sized_end = end > sized_end ? end : sized_end;
        }
    }
    return err ? err : spans_flatten(&symtab->spans);
}

struct symbol *symtab_find(const struct symtab *symtab, uint64_t svma)
{
    uint32_t index = spans_find(&symtab->spans, svma);
    return index == SPAN_NONE ? NULL : &symtab->symbols[index];
}

const char *symbol_name(struct symbol *symbol)
{
    if (symbol->demangled)
        return symbol->demangled;
    if (!symbol->plt_name)
        symbol->demangled = demangle(symbol->name);
    return symbol->demangled ? symbol->demangled : symbol->name;
}

/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_tables.h"

#include "arch/machines.h"
#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/containers/sort.h"
#include "elf/fde_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES_MAX (UINT64_C(8) << 20)   /* of symbols, their names, or relocations */
#define SLOTS_BYTES_MAX (2 * TABLE_BYTES_MAX) /* of all relocations: sections may overlap */
/* .symtab of files in pieces: 700 000 symbols. */
#define SYMTAB_BYTES_MAX (UINT64_C(16) << 20)
#define SYMTAB_PART_BYTES (sizeof(Elf64_Sym) * 8192)
/* Symbols of functions without an FDE that are looked at. */
#define HAND_WRITTEN_MAX 100000
/* Names may overlap: 300 000 symbols of a hostile table have the same megabytes as their names. */
enum { NAME_BYTES_MAX = 4096, NAMES_BYTES_MAX = 16 << 20 };

/* All code is read: the starts of functions are found there. */
static bool is_whole(const struct code_tables *tables)
{
    return !tables->code->elf;
}

static bool holds(const struct code_tables *tables, uint64_t svma)
{
    return code_bytes_hold(tables->code, svma);
}

/* No name: outside of the table, empty, or longer than NAME_BYTES_MAX or the rest of all names. */
static struct code_name name_at(struct code_tables *tables, const struct symbol_table *table,
                                uint32_t offset)
{
    const size_t left = NAMES_BYTES_MAX - tables->names_bytes;
    const size_t most = left < NAME_BYTES_MAX ? left : NAME_BYTES_MAX;
    if (offset >= table->strings.size)
        return (struct code_name){.text = NULL};
    const char *text = (const char *)table->strings.bytes + offset;
    const size_t length = strnlen(text, most + 1);
    if (length == 0 || length > most)
        return (struct code_name){.text = NULL};
    tables->names_bytes += length;
    return code_name_of(text);
}

static bool is_function(const struct code_tables *tables, const Elf64_Sym *sym)
{
    return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
           holds(tables, sym->st_value);
}

/* A symbol of type function is a firm start: no other function runs across. */
static int add_symbol(struct code_tables *tables, const struct symbol_table *table,
                      const Elf64_Sym *sym)
{
    if (!is_function(tables, sym))
        return 0;
    const struct code_symbol symbol = {sym->st_value, sym->st_size,
                                       name_at(tables, table, sym->st_name)};
    if (code_symbols_add(&tables->symbols, symbol) != 0)
        return -ENOMEM;
    return function_starts_add(&tables->starts, sym->st_value, true);
}

static int read_table(const struct elf_file *elf, const struct elf_section *section,
                      struct buffer *out)
{
    bool is_usable = section->bytes <= TABLE_BYTES_MAX && !(section->flags & SHF_COMPRESSED);
    return is_usable ? elf_read_section(elf, section, out, NULL) : -EFBIG;
}

/* Unreadable sections leave a table empty. */
static int read_symbols(struct code_tables *tables, const struct elf_file *elf,
                        const struct elf_section *section)
{
    struct symbol_table *table = &tables->tables[tables->table_count++];
    table->section = section;
    int err = read_table(elf, section, &table->entries);
    if (err == 0 && section->link < elf_section_count(elf))
        err = read_table(elf, elf_section(elf, section->link), &table->strings);
    buffer_u8(&table->strings, 0);
    if (err == -ENOMEM || table->strings.failed)
        return -ENOMEM;
    err = 0;
    for (size_t at = 0; err == 0 && at + sizeof(Elf64_Sym) <= table->entries.size;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, table->entries.bytes + at, sizeof(sym));
        err = add_symbol(tables, table, &sym);
    }
    return err;
}

/* In large files .symtab has 100 000 functions, nearly all with an FDE: add_hand_written(). */
static int read_all_symbols(struct code_tables *tables, const struct elf_file *elf)
{
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        bool is_used =
            section->type == SHT_DYNSYM || (section->type == SHT_SYMTAB && is_whole(tables));
        if (is_used && tables->table_count < CODE_TABLES_MAX)
            err = read_symbols(tables, elf, section);
    }
    return err ? err : code_symbols_sort(&tables->symbols);
}

/* The name of a symbol, and its address if defined in this file. */
static void describe_slot(struct code_tables *tables, const struct symbol_table *table,
                          uint64_t index, struct code_slot *slot)
{
    Elf64_Sym sym;
    if (index >= table->entries.size / sizeof(sym))
        return;
    memcpy(&sym, table->entries.bytes + index * sizeof(sym), sizeof(sym));
    slot->name = name_at(tables, table, sym.st_name);
    slot->target_svma = sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
}

/* Relative relocations into code hold a function of the file; slots of PLT and GOT have a
 * symbol. */
static int add_slot(struct code_tables *tables, const struct symbol_table *table,
                    const Elf64_Rela *rela)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);
    struct code_slot slot = {.slot_svma = rela->r_offset};
    if (type == tables->relocations->relative && holds(tables, (uint64_t)rela->r_addend)) {
        slot.target_svma = (uint64_t)rela->r_addend; /* a function: jump tables hold distances */
        slot.may_change = rela->r_offset - tables->readonly_svma >= tables->readonly_bytes;
    } else if (table &&
               (type == tables->relocations->jump_slot || type == tables->relocations->glob_dat))
        describe_slot(tables, table, ELF64_R_SYM(rela->r_info), &slot);
    if (!slot.target_svma && !slot.name.text)
        return 0;
    struct code_slot *added = ARRAY_PUSH(tables->slots, tables->slot_count, tables->slot_capacity);
    if (!added)
        return -ENOMEM;
    *added = slot;
    return slot.target_svma ? function_starts_add(&tables->starts, slot.target_svma, false) : 0;
}

static int read_slots(struct code_tables *tables, const struct elf_file *elf,
                      const struct elf_section *section, uint64_t *left_bytes)
{
    const struct symbol_table *table = NULL;
    struct buffer relocations = {0};
    if (section->bytes > *left_bytes)
        return 0;
    *left_bytes -= section->bytes;
    for (size_t i = 0; i < tables->table_count && section->link < elf_section_count(elf); i++)
        if (tables->tables[i].section == elf_section(elf, section->link))
            table = &tables->tables[i];
    int err = read_table(elf, section, &relocations) == -ENOMEM ? -ENOMEM : 0;
    for (size_t at = 0; err == 0 && at + sizeof(Elf64_Rela) <= relocations.size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, relocations.bytes + at, sizeof(rela));
        err = add_slot(tables, table, &rela);
    }
    buffer_free(&relocations);
    return err;
}

/* Slots in PT_GNU_RELRO are read-only after relocation (elf(5)), so the program cannot replace the
 * function. */
static void find_readonly(struct code_tables *tables, const struct elf_file *elf)
{
    for (size_t i = 0; i < elf_segment_count(elf); i++)
        if (elf_segment(elf, i)->type == PT_GNU_RELRO) {
            tables->readonly_svma = elf_segment(elf, i)->svma;
            tables->readonly_bytes = elf_segment(elf, i)->memory_bytes;
        }
}

static int read_all_slots(struct code_tables *tables, const struct elf_file *elf)
{
    uint64_t left_bytes = SLOTS_BYTES_MAX;
    int err = 0;
    find_readonly(tables, elf);
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++)
        if (elf_section(elf, i)->type == SHT_RELA)
            err = read_slots(tables, elf, elf_section(elf, i), &left_bytes);
    return err ? err : SORT_BY(tables->slots, tables->slot_count, slot_svma);
}

int code_tables_read(struct code_tables *tables, const struct elf_file *elf)
{
    const struct code_bytes *code = tables->code;
    tables->starts = (struct function_starts){
        .machine = tables->machine, .code = code->bytes, .bytes = code->size, .svma = code->svma};
    int err = function_starts_add(&tables->starts, elf_entry_svma(elf), true);
    if (err == 0)
        err = read_all_symbols(tables, elf);
    if (err == 0)
        err = read_all_slots(tables, elf);
    return err;
}

/* Unreadable sections leave no starts. */
static int add_fde_starts(struct code_tables *tables, const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".eh_frame_hdr");
    struct buffer bytes = {0};
    struct fde_table table;
    int err = section && read_table(elf, section, &bytes) == -ENOMEM ? -ENOMEM : 0;
    bool has_table =
        section && fde_table_open(&table, cursor_of(bytes.bytes, bytes.size), section->svma);
    for (uint32_t i = 0; has_table && i < table.count && err == 0; i++)
        err = function_starts_add(&tables->starts, fde_table_start_svma(&table, i), true);
    buffer_free(&bytes);
    return err;
}

/* V8's builtins: frame pointers lead on. They call by registers alone, so a search ended in guesses
 * for an eighth of node's stacks. */
static bool is_v8_builtin(const struct elf_file *elf, const struct elf_section *symtab,
                          const Elf64_Sym *sym)
{
    static const char prefix[] = "Builtins_";
    enum { PREFIX_BYTES = sizeof(prefix) - 1 };
    struct buffer name = {0};
    bool is_builtin = symtab->link < elf_section_count(elf) &&
                      elf_read_section_part(elf, elf_section(elf, symtab->link), sym->st_name,
                                            PREFIX_BYTES, &name) == 0 &&
                      memcmp(name.bytes, prefix, PREFIX_BYTES) == 0;
    buffer_free(&name);
    return is_builtin;
}

/* Functions without an FDE in a part of .symtab: written by hand. Other files refer to names of
 * .dynsym, so these have none. */
static int add_hand_written(struct code_tables *tables, const struct elf_file *elf,
                            const struct elf_section *symtab, const struct buffer *part)
{
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= part->size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, part->bytes + at, sizeof(sym));
        const struct function_start *start = function_starts_before(&tables->starts, sym.st_value);
        if (sym.st_size == 0 || !is_function(tables, &sym) ||
            (start && start->svma == sym.st_value))
            continue;
        if (tables->hand_written++ >= HAND_WRITTEN_MAX)
            return 0;
        if (is_v8_builtin(elf, symtab, &sym))
            continue;
        const struct code_symbol symbol = {.svma = sym.st_value, .bytes = sym.st_size};
        if (code_symbols_add(&tables->symbols, symbol) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* An unreadable table has no functions. */
static int read_symtab(struct code_tables *tables, const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".symtab");
    const uint64_t bytes = section && section->bytes <= SYMTAB_BYTES_MAX ? section->bytes : 0;
    const size_t dynamic = tables->symbols.count;
    struct buffer part = {0};
    int err = 0;
    for (uint64_t at = 0; at < bytes && err == 0; at += SYMTAB_PART_BYTES) {
        uint64_t left = bytes - at;
        buffer_clear(&part);
        if (elf_read_section_part(elf, section, at,
                                  left < SYMTAB_PART_BYTES ? left : SYMTAB_PART_BYTES, &part) != 0)
            break;
        err = add_hand_written(tables, elf, section, &part);
    }
    buffer_free(&part);
    for (size_t i = dynamic; i < tables->symbols.count && err == 0; i++)
        err = function_starts_add(&tables->starts, tables->symbols.items[i].svma, true);
    return err ? err : code_symbols_sort(&tables->symbols);
}

int code_tables_read_starts(struct code_tables *tables, const struct elf_file *elf)
{
    int err = add_fde_starts(tables, elf);
    if (err == 0)
        err = function_starts_sort(&tables->starts);
    if (err == 0)
        err = read_symtab(tables, elf);
    if (err == 0)
        err = function_starts_sort(&tables->starts);
    return err;
}

size_t code_tables_memory(const struct code_tables *tables)
{
    size_t bytes = tables->symbols.capacity * sizeof(*tables->symbols.items) +
                   tables->starts.capacity * sizeof(*tables->starts.starts) +
                   tables->slot_capacity * sizeof(*tables->slots);
    for (size_t i = 0; i < tables->table_count; i++)
        bytes += tables->tables[i].entries.capacity + tables->tables[i].strings.capacity;
    return bytes;
}

void code_tables_free(struct code_tables *tables)
{
    for (size_t i = 0; i < CODE_TABLES_MAX; i++) {
        buffer_free(&tables->tables[i].entries);
        buffer_free(&tables->tables[i].strings);
    }
    code_symbols_free(&tables->symbols);
    function_starts_free(&tables->starts);
    free(tables->slots);
}

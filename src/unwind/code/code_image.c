/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_image.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/containers/sort.h"
#include "elf/fde_table.h"
#include "unwind/arch/x86_64_code.h"
#include "unwind/code/code_bytes.h"
#include "unwind/code/function_starts.h"

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
enum { TABLES_MAX = 2 }; /* .symtab and .dynsym */

struct symbol_table {
    const struct elf_section *section; /* only during code_image_open() */
    struct buffer entries, strings;
};

struct code_image {
    struct code_bytes *code; /* pieces are read through a constant image, too */
    uint64_t entry_svma;
    struct symbol_table tables[TABLES_MAX];
    size_t table_count;
    size_t names_bytes;          /* of all names */
    size_t hand_written;         /* looked at in .symtab */
    struct code_symbols symbols; /* of functions */
    struct function_starts starts;
    struct code_slot *slots; /* by slot_svma */
    size_t slot_count, slot_capacity;
};

void code_image_close(struct code_image *image)
{
    if (!image)
        return;
    for (size_t i = 0; i < TABLES_MAX; i++) {
        buffer_free(&image->tables[i].entries);
        buffer_free(&image->tables[i].strings);
    }
    if (image->code)
        code_bytes_close(image->code);
    free(image->code);
    code_symbols_free(&image->symbols);
    function_starts_free(&image->starts);
    free(image->slots);
    free(image);
}

bool code_image_is_possible(const struct elf_file *elf)
{
    uint64_t start_svma, end_svma;
    return elf_machine(elf) == EM_X86_64 && code_bytes_bounds(elf, &start_svma, &end_svma) &&
           end_svma - start_svma <= CODE_BYTES_AT_ONCE_MAX;
}

static bool holds(const struct code_image *image, uint64_t svma)
{
    return code_bytes_hold(image->code, svma);
}

static struct code_name name_at(struct code_image *image, const struct symbol_table *table,
                                uint32_t offset)
{
    const size_t left = NAMES_BYTES_MAX - image->names_bytes;
    const size_t most = left < NAME_BYTES_MAX ? left : NAME_BYTES_MAX;
    if (offset >= table->strings.size)
        return (struct code_name){.text = NULL};
    const char *text = (const char *)table->strings.bytes + offset;
    const size_t length = strnlen(text, most + 1);
    if (length == 0 || length > most)
        return (struct code_name){.text = NULL};
    image->names_bytes += length;
    return code_name_of(text);
}

static bool is_function(const struct code_image *image, const Elf64_Sym *sym)
{
    return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
           holds(image, sym->st_value);
}

static int add_symbol(struct code_image *image, const struct symbol_table *table,
                      const Elf64_Sym *sym)
{
    if (!is_function(image, sym))
        return 0;
    const struct code_symbol symbol = {sym->st_value, sym->st_size,
                                       name_at(image, table, sym->st_name)};
    if (code_symbols_add(&image->symbols, symbol) != 0)
        return -ENOMEM;
    return function_starts_add(&image->starts, sym->st_value, true);
}

static int read_table(const struct elf_file *elf, const struct elf_section *section,
                      struct buffer *out)
{
    bool is_usable = section->bytes <= TABLE_BYTES_MAX && !(section->flags & SHF_COMPRESSED);
    return is_usable ? elf_read_section(elf, section, out, NULL) : -EFBIG;
}

/* Unreadable sections leave a table empty. */
static int read_symbols(struct code_image *image, const struct elf_file *elf,
                        const struct elf_section *section)
{
    struct symbol_table *table = &image->tables[image->table_count++];
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
        err = add_symbol(image, table, &sym);
    }
    return err;
}

/* In large files .symtab has 100 000 functions, nearly all with an FDE: add_hand_written(). */
static int read_all_symbols(struct code_image *image, const struct elf_file *elf)
{
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        bool is_used = section->type == SHT_DYNSYM ||
                       (section->type == SHT_SYMTAB && code_image_has_all_starts(image));
        if (is_used && image->table_count < TABLES_MAX)
            err = read_symbols(image, elf, section);
    }
    return err ? err : code_symbols_sort(&image->symbols);
}

/* The name of a symbol, and its address if defined in this file. */
static void describe_slot(struct code_image *image, const struct symbol_table *table,
                          uint64_t index, struct code_slot *slot)
{
    Elf64_Sym sym;
    if (index >= table->entries.size / sizeof(sym))
        return;
    memcpy(&sym, table->entries.bytes + index * sizeof(sym), sizeof(sym));
    slot->name = name_at(image, table, sym.st_name);
    slot->target_svma = sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
}

static int add_slot(struct code_image *image, const struct symbol_table *table,
                    const Elf64_Rela *rela)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);
    struct code_slot slot = {.slot_svma = rela->r_offset};
    if (type == R_X86_64_RELATIVE && holds(image, (uint64_t)rela->r_addend))
        slot.target_svma = (uint64_t)rela->r_addend; /* a function: jump tables hold distances */
    else if (table && (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT))
        describe_slot(image, table, ELF64_R_SYM(rela->r_info), &slot);
    if (!slot.target_svma && !slot.name.text)
        return 0;
    struct code_slot *added = ARRAY_PUSH(image->slots, image->slot_count, image->slot_capacity);
    if (!added)
        return -ENOMEM;
    *added = slot;
    return slot.target_svma ? function_starts_add(&image->starts, slot.target_svma, false) : 0;
}

static int read_slots(struct code_image *image, const struct elf_file *elf,
                      const struct elf_section *section, uint64_t *left_bytes)
{
    const struct symbol_table *table = NULL;
    struct buffer relocations = {0};
    if (section->bytes > *left_bytes)
        return 0;
    *left_bytes -= section->bytes;
    for (size_t i = 0; i < image->table_count && section->link < elf_section_count(elf); i++)
        if (image->tables[i].section == elf_section(elf, section->link))
            table = &image->tables[i];
    int err = read_table(elf, section, &relocations) == -ENOMEM ? -ENOMEM : 0;
    for (size_t at = 0; err == 0 && at + sizeof(Elf64_Rela) <= relocations.size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, relocations.bytes + at, sizeof(rela));
        err = add_slot(image, table, &rela);
    }
    buffer_free(&relocations);
    return err;
}

static int read_all_slots(struct code_image *image, const struct elf_file *elf)
{
    uint64_t left_bytes = SLOTS_BYTES_MAX;
    int err = 0;
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++)
        if (elf_section(elf, i)->type == SHT_RELA)
            err = read_slots(image, elf, elf_section(elf, i), &left_bytes);
    return err ? err : SORT_BY(image->slots, image->slot_count, slot_svma);
}

/* The addresses taken in the entry function are main() and the like, which may never return. */
static void confirm_main(struct code_image *image)
{
    enum { ENTRY_BYTES = 64 };
    uint64_t svma = image->entry_svma, target_svma;
    size_t size, at = 0, step = 1;
    const uint8_t *code = code_image_bytes(image, svma, ENTRY_BYTES, &size);
    for (; at < size && step > 0; at += step) {
        step = x86_64_instruction_bytes(code + at, size - at);
        if (x86_64_function_reference(code + at, size - at, svma + at, &target_svma) ==
            REFERENCE_ADDRESS)
            function_starts_confirm(&image->starts, target_svma);
    }
}

static int make(struct code_image **out, const struct elf_file *elf)
{
    struct code_image *image = elf_machine(elf) == EM_X86_64 ? calloc(1, sizeof(*image)) : NULL;
    *out = image;
    if (!image)
        return elf_machine(elf) == EM_X86_64 ? -ENOMEM : -ENOTSUP;
    image->entry_svma = elf_entry_svma(elf);
    image->code = calloc(1, sizeof(*image->code));
    return image->code ? 0 : -ENOMEM;
}

static int read_tables(struct code_image *image, const struct elf_file *elf)
{
    image->starts = (struct function_starts){
        .code = image->code->bytes, .bytes = image->code->size, .svma = image->code->svma};
    int err = function_starts_add(&image->starts, image->entry_svma, true);
    if (err == 0)
        err = read_all_symbols(image, elf);
    if (err == 0)
        err = read_all_slots(image, elf);
    return err;
}

int code_image_open(struct code_image **out, const struct elf_file *elf)
{
    struct code_image *image;
    int err = make(&image, elf);
    if (err == 0)
        err = code_bytes_read(image->code, elf);
    if (err == 0)
        err = read_tables(image, elf);
    if (err == 0)
        err = function_starts_find(&image->starts);
    if (err == 0)
        confirm_main(image);
    if (err != 0)
        code_image_close(image);
    *out = err == 0 ? image : NULL;
    return err;
}

/* Unreadable sections leave no starts. */
static int add_fde_starts(struct code_image *image, const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".eh_frame_hdr");
    struct buffer bytes = {0};
    struct fde_table table;
    int err = section && read_table(elf, section, &bytes) == -ENOMEM ? -ENOMEM : 0;
    bool has_table =
        section && fde_table_open(&table, cursor_of(bytes.bytes, bytes.size), section->svma);
    for (uint32_t i = 0; has_table && i < table.count && err == 0; i++)
        err = function_starts_add(&image->starts, fde_table_start_svma(&table, i), true);
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
static int add_hand_written(struct code_image *image, const struct elf_file *elf,
                            const struct elf_section *symtab, const struct buffer *part)
{
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= part->size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, part->bytes + at, sizeof(sym));
        const struct function_start *start = function_starts_before(&image->starts, sym.st_value);
        if (sym.st_size == 0 || !is_function(image, &sym) || (start && start->svma == sym.st_value))
            continue;
        if (image->hand_written++ >= HAND_WRITTEN_MAX)
            return 0;
        if (is_v8_builtin(elf, symtab, &sym))
            continue;
        const struct code_symbol symbol = {.svma = sym.st_value, .bytes = sym.st_size};
        if (code_symbols_add(&image->symbols, symbol) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* An unreadable table has no functions. */
static int read_symtab(struct code_image *image, const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".symtab");
    const uint64_t bytes = section && section->bytes <= SYMTAB_BYTES_MAX ? section->bytes : 0;
    const size_t dynamic = image->symbols.count;
    struct buffer part = {0};
    int err = 0;
    for (uint64_t at = 0; at < bytes && err == 0; at += SYMTAB_PART_BYTES) {
        uint64_t left = bytes - at;
        buffer_clear(&part);
        if (elf_read_section_part(elf, section, at,
                                  left < SYMTAB_PART_BYTES ? left : SYMTAB_PART_BYTES, &part) != 0)
            break;
        err = add_hand_written(image, elf, section, &part);
    }
    buffer_free(&part);
    for (size_t i = dynamic; i < image->symbols.count && err == 0; i++)
        err = function_starts_add(&image->starts, image->symbols.items[i].svma, true);
    return err ? err : code_symbols_sort(&image->symbols);
}

int code_image_open_in_pieces(struct code_image **out, struct elf_file *elf)
{
    struct code_image *image;
    int err = make(&image, elf);
    if (err == 0)
        err = code_bytes_open(image->code, elf);
    else
        elf_close(elf);
    if (err == 0)
        err = read_tables(image, elf);
    if (err == 0)
        err = add_fde_starts(image, elf);
    if (err == 0)
        err = function_starts_sort(&image->starts);
    if (err == 0)
        err = read_symtab(image, elf);
    if (err == 0)
        err = function_starts_sort(&image->starts);
    if (err != 0)
        code_image_close(image);
    *out = err == 0 ? image : NULL;
    return err;
}

bool code_image_has_all_starts(const struct code_image *image)
{
    return !image->code->elf;
}

bool code_image_sized_part(const struct code_image *image, uint64_t *start_svma, uint64_t *end_svma)
{
    return code_symbols_sized_part(&image->symbols, start_svma, end_svma);
}

bool code_image_knows_start(const struct code_image *image, uint64_t svma)
{
    uint64_t start_svma = svma, end_svma = svma + 1;
    return code_image_has_all_starts(image) || code_image_sized_part(image, &start_svma, &end_svma);
}

size_t code_image_memory(const struct code_image *image)
{
    size_t bytes = code_bytes_memory(image->code) +
                   image->symbols.capacity * sizeof(*image->symbols.items) +
                   image->starts.capacity * sizeof(*image->starts.starts) +
                   image->slot_capacity * sizeof(*image->slots);
    for (size_t i = 0; i < image->table_count; i++)
        bytes += image->tables[i].entries.capacity + image->tables[i].strings.capacity;
    return bytes;
}

const uint8_t *code_image_bytes(const struct code_image *image, uint64_t svma, size_t size,
                                size_t *available)
{
    uint64_t left = holds(image, svma) ? image->code->svma + image->code->size - svma : 0;
    *available = left < size ? (size_t)left : size;
    const uint8_t *bytes = code_bytes_get(image->code, svma, *available);
    *available = bytes ? *available : 0;
    return bytes;
}

const uint8_t *code_image_before(const struct code_image *image, uint64_t svma, size_t size)
{
    bool is_behind = svma >= image->code->svma && svma - image->code->svma >= size;
    return is_behind ? code_bytes_get(image->code, svma - size, size) : NULL;
}

bool code_image_function(const struct code_image *image, uint64_t svma,
                         struct code_function *function)
{
    const struct function_start *start = function_starts_before(&image->starts, svma);
    if (!start || !holds(image, svma))
        return false;
    const struct function_starts *starts = &image->starts;
    bool is_last = start + 1 == starts->starts + starts->count;
    *function = (struct code_function){.start_svma = start->svma,
                                       .end_svma = is_last ? image->code->svma + image->code->size
                                                           : start[1].svma,
                                       .is_firm = start->is_firm,
                                       .is_label = start->is_label};
    return true;
}

uint64_t code_image_entry_svma(const struct code_image *image)
{
    return image->entry_svma;
}

const struct code_slot *code_image_slot(const struct code_image *image, uint64_t slot_svma)
{
    size_t below = ARRAY_COUNT_BELOW(image->slots, image->slot_count, slot_svma, slot_svma);
    bool is_known = below < image->slot_count && image->slots[below].slot_svma == slot_svma;
    return is_known ? &image->slots[below] : NULL;
}

size_t code_image_symbols(const struct code_image *image)
{
    return image->symbols.count;
}

uint64_t code_image_find(const struct code_image *image, const struct code_name *name)
{
    return code_symbols_find(&image->symbols, name);
}

bool code_image_defines(const struct code_image *image, const struct code_name *name, uint64_t svma)
{
    return code_symbols_have(&image->symbols, name, svma);
}

/* SPDX-License-Identifier: MIT */
/* Functions and slots of an ELF file by its symbol tables, relocations and .eh_frame_hdr. */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"
#include "unwind/code/code_bytes.h"
#include "unwind/code/code_symbols.h"
#include "unwind/code/function_starts.h"

struct machine;

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The content of a slot of the global offset table. */
struct code_slot {
    uint64_t slot_svma;
    uint64_t target_svma;  /* in the same file; 0: by name */
    struct code_name name; /* of the image */
    bool may_change;       /* a variable of the program */
};

struct symbol_table {
    const struct elf_section *section; /* only during code_tables_read() */
    struct buffer entries, strings;
};

enum { CODE_TABLES_MAX = 2 }; /* .symtab and .dynsym */

struct code_tables {               /* zeros and code: empty */
    const struct code_bytes *code; /* borrowed */
    const struct machine_code *machine;
    const struct machine *relocations; /* types of the machine's */
    struct symbol_table tables[CODE_TABLES_MAX];
    size_t table_count;
    size_t names_bytes;          /* of all names */
    size_t hand_written;         /* looked at in .symtab */
    struct code_symbols symbols; /* of functions */
    struct function_starts starts;
    uint64_t readonly_svma, readonly_bytes; /* made read-only after relocation */
    struct code_slot *slots;                /* by slot_svma; owned */
    size_t slot_count, slot_capacity;
};

/* Symbols, slots, and the starts that these have; unsorted. Unreadable sections have none.
 * 0 or a negative errno; code_tables_free() in any case. */
int code_tables_read(struct code_tables *tables, const struct elf_file *elf);
/* Of code in pieces: the starts that .eh_frame_hdr and .symtab have, and sorts all. */
int code_tables_read_starts(struct code_tables *tables, const struct elf_file *elf);
void code_tables_free(struct code_tables *tables);

/* Bytes allocated. */
size_t code_tables_memory(const struct code_tables *tables);

/* SPDX-License-Identifier: MIT */
/* DWARF 5, sections 6.2.2 and 6.2.5: the line number program. */
#include "symbols/dwarf/lines.h"

#include "base/containers/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1 << 30 };

struct machine {
    struct line_table *table;
    struct cursor program;
    struct line_row row;
    int err;
};

/* The registers at the start of each sequence: DWARF 5, table 6.4. */
static void start_sequence(struct machine *machine)
{
    machine->row = (struct line_row){.file = 1, .line = 1};
}

static void add_row(struct machine *machine)
{
    struct line_table *table = machine->table;
    struct line_row *row = table->row_count < ROWS_MAX
                               ? ARRAY_PUSH(table->rows, table->row_count, table->row_capacity)
                               : NULL;
    if (!row) {
        machine->err = -ENOMEM;
        return;
    }
    *row = machine->row;
}

static void advance(struct machine *machine, uint64_t instructions)
{
    machine->row.svma += instructions * machine->table->instruction_bytes;
}

/* A special opcode advances address and line at once: DWARF 5, 6.2.5.1. */
static void run_special(struct machine *machine, uint8_t opcode)
{
    const struct line_table *table = machine->table;
    unsigned adjusted = opcode - table->opcode_base;
    advance(machine, adjusted / table->line_range);
    machine->row.line += (uint32_t)(table->line_base + (int)(adjusted % table->line_range));
    add_row(machine);
}

static void run_extended(struct machine *machine)
{
    struct cursor c = cursor_sub(&machine->program, cursor_uleb128(&machine->program));
    size_t operand_bytes = cursor_left(&c) ? cursor_left(&c) - 1 : 0;
    switch (cursor_u8(&c)) {
    case DW_LNE_end_sequence:
        machine->row.is_end = true;
        add_row(machine);
        start_sequence(machine);
        return;
    case DW_LNE_set_address:
        machine->row.svma = operand_bytes == 4 ? cursor_u32(&c) : cursor_u64(&c);
        return;
    default: /* others: skipped by length */
        return;
    }
}

static void run_standard(struct machine *machine, uint8_t opcode)
{
    const struct line_table *table = machine->table;
    struct cursor *c = &machine->program;
    switch (opcode) {
    case DW_LNS_copy:
        add_row(machine);
        return;
    case DW_LNS_advance_pc:
        advance(machine, cursor_uleb128(c));
        return;
    case DW_LNS_advance_line:
        machine->row.line += (uint32_t)cursor_sleb128(c);
        return;
    case DW_LNS_set_file:
        machine->row.file = (uint32_t)cursor_uleb128(c);
        return;
    case DW_LNS_set_column:
        machine->row.column = (uint32_t)cursor_uleb128(c);
        return;
    case DW_LNS_const_add_pc: /* the address of special opcode 255, without a row */
        advance(machine, (255u - table->opcode_base) / table->line_range);
        return;
    case DW_LNS_fixed_advance_pc: /* in bytes, not in instructions */
        machine->row.svma += cursor_u16(c);
        return;
    default: /* statements, blocks, prologues; or opcodes of a later version */
        for (unsigned i = 0; i < table->operand_counts[opcode]; i++)
            (void)cursor_uleb128(c);
        return;
    }
}

/* Most tables are ordered: they need neither copy nor sort. */
static bool are_ordered(const struct line_table *table)
{
    for (size_t i = 1; i < table->row_count; i++)
        if (table->rows[i - 1].svma > table->rows[i].svma)
            return false;
    return true;
}

/* Of equal addresses, the last row counts. */
static int compare_rows(const void *left, const void *right)
{
    const struct line_row *a = left, *b = right;
    if (a->svma != b->svma)
        return a->svma < b->svma ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_rows(struct line_table *table)
{
    for (size_t i = 0; i < table->row_count; i++)
        table->rows[i].order = (uint32_t)i & INT32_MAX;
    qsort(table->rows, table->row_count, sizeof(*table->rows), compare_rows);
}

struct sequence { /* rows up to an end_sequence: contiguous code */
    uint64_t svma;
    size_t first, count;
};

static int compare_sequences(const void *left, const void *right)
{
    const struct sequence *a = left, *b = right;
    if (a->svma != b->svma)
        return a->svma < b->svma ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static size_t list_sequences(const struct line_table *table, struct sequence *sequences)
{
    size_t count = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        if (i == 0 || table->rows[i - 1].is_end)
            sequences[count++] = (struct sequence){table->rows[i].svma, i, 0};
        sequences[count - 1].count++;
    }
    return count;
}

/* Sequences come in any order, rows of a sequence by address: moving sequences is cheaper than
 * sorting rows. 0 or -ENOMEM. */
static int order_sequences(struct line_table *table)
{
    size_t most = 1;
    for (size_t i = 0; i < table->row_count; i++)
        most += table->rows[i].is_end;
    struct sequence *sequences = calloc(most, sizeof(*sequences));
    struct line_row *rows = malloc((table->row_count + 1) * sizeof(*rows)), *end = rows;
    int err = sequences && rows ? 0 : -ENOMEM;
    size_t count = err == 0 ? list_sequences(table, sequences) : 0;
    qsort(sequences, count, sizeof(*sequences), compare_sequences);
    for (size_t i = 0; i < count; i++, end += sequences[i - 1].count)
        memcpy(end, table->rows + sequences[i].first, sequences[i].count * sizeof(*rows));
    free(sequences);
    if (err != 0) {
        free(rows);
        return err;
    }
    free(table->rows);
    table->rows = rows;
    table->row_capacity = table->row_count;
    return 0;
}

int line_rows_read(struct line_table *table)
{
    struct machine machine = {.table = table, .program = table->program};
    table->has_rows = true;
    start_sequence(&machine);
    while (machine.err == 0 && cursor_left(&machine.program) && !machine.program.failed) {
        uint8_t opcode = cursor_u8(&machine.program);
        if (opcode >= table->opcode_base)
            run_special(&machine, opcode);
        else if (opcode == 0)
            run_extended(&machine);
        else
            run_standard(&machine, opcode);
    }
    table->is_damaged = machine.program.failed;
    if (are_ordered(table))
        return machine.err;
    if (machine.err == 0)
        machine.err = order_sequences(table);
    if (!are_ordered(table))
        sort_rows(table); /* overlapping sequences: dropped functions all start at 0 */
    return machine.err;
}

/* SPDX-License-Identifier: MIT */
/*
 * Every row of every FDE of some large, real files, held against what readelf prints for it. The
 * text is interpreted here on its own, over synthetic registers and a synthetic stack: what the
 * caller's registers must be follows from readelf's words alone.
 *
 *        LOC           CFA      rbx   rbp   ra
 *     000000000002712a rsp+32   c-16  u     c-8        c-16: saved at CFA-16     u: not known or
 * same
 *
 * Expressions are printed as "exp" only; there, the row and the full evaluator, which share no code
 * but the parser, have to agree.
 */
#include "module_rows.h"

#include "elf/elf_file.h"
#include "unwind/module.h"
#include "unwind/step.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { REGS = 17, RSP = 7, RBP = 6, PC = 16 };
static const char *const reg_names[REGS] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                            "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                            "r12", "r13", "r14", "r15", "ra"};

/* One cell of readelf's table; kind is its first letter, '-' for a column that is not there. */
struct cell {
    char kind;
    long value;
};

struct expected {
    unsigned long start, end;
    bool cfa_is_expression;
    int cfa_reg;
    long cfa_offset;
    struct cell regs[REGS];
};

/* The synthetic stack: every word tells its address. */
#define STACK_LO UINT64_C(0x7f0000000000)
#define STACK_BYTES (UINT64_C(1) << 24)
static uint8_t *stack_bytes;

static uint64_t word_at(uint64_t avma)
{
    return avma * UINT64_C(0x9e3779b97f4a7c15) ^ avma >> 7;
}

static struct stack_view view_of_stack(void)
{
    if (!stack_bytes) {
        stack_bytes = malloc(STACK_BYTES);
        assert_non_null(stack_bytes);
        for (uint64_t i = 0; i < STACK_BYTES; i += 8) {
            uint64_t word = word_at(STACK_LO + i);
            memcpy(stack_bytes + i, &word, 8);
        }
    }
    return (struct stack_view){STACK_LO, STACK_LO + STACK_BYTES, stack_bytes, NULL};
}

struct judge {
    const char *path;
    struct elf_file *elf;
    struct unwind_module *module;
    struct compiled_rows compiled;
    size_t rows, fdes;
    size_t expressions;  /* rows whose CFA, PC or FP is an expression: see the top */
    size_t huge;         /* frames that do not fit the synthetic stack */
    size_t complex_rows; /* that no rule can say, and none does */
    size_t overlapping; /* FDEs that claim the same addresses: the winner is not readelf's affair */
    size_t wrong;
};

static void complain(struct judge *judge, const struct expected *want, const char *what)
{
    if (judge->wrong++ < 10)
        fprintf(stderr, "%s: at 0x%lx: %s\n", judge->path, want->start, what);
}

static int reg_number(const char *name, size_t length)
{
    for (int i = 0; i < REGS; i++)
        if (strlen(reg_names[i]) == length && strncmp(reg_names[i], name, length) == 0)
            return i;
    return -1;
}

/* SP is the lowest, so that frames based on any other register are above it. */
static struct full_regs synthetic_regs(uint64_t pc)
{
    struct full_regs regs = {.known = (1u << REGS) - 1};
    for (uint64_t i = 0; i < REGS; i++)
        regs.value[i] = STACK_LO + STACK_BYTES / 2 + 4096 * i;
    regs.value[RSP] = STACK_LO + STACK_BYTES / 2 - 4096;
    regs.value[PC] = pc;
    return regs;
}

static bool has_expression(const struct expected *want)
{
    return want->cfa_is_expression || want->regs[PC].kind == 'e' || want->regs[RBP].kind == 'e';
}

/* Whether the documented rules can say it. */
static bool fits_a_rule(const struct expected *want)
{
    char fp = want->regs[RBP].kind;
    return (want->cfa_reg == RSP || want->cfa_reg == RBP) && want->cfa_offset >= 0 &&
           want->regs[PC].kind == 'c' && want->regs[PC].value == -8 &&
           (fp == '-' || fp == 'u' || fp == 's' || (fp == 'c' && want->regs[RBP].value < 0));
}

static uint64_t expected_value(const struct cell *cell, uint64_t cfa,
                               const struct full_regs *before, int reg)
{
    switch (cell->kind) {
    case 'c':
        return word_at(cfa + (uint64_t)cell->value);
    case 'v':
        return cfa + (uint64_t)cell->value;
    case 'r':
        return before->value[cell->value];
    default:
        return before->value[reg];
    }
}

static void judge_row(struct judge *judge, const struct expected *want, uint64_t address,
                      const struct stack_view *stack)
{
    uint32_t rule = rule_in(&judge->compiled, judge->module, address);
    struct full_regs full = synthetic_regs(address), before = full;
    struct unwind_regs fast = {address, full.value[RSP], full.value[RBP]};
    bool is_signal;
    enum unwind_result by_row = unwind_apply(rule, &fast, stack);
    enum unwind_result by_full =
        unwind_module_step(judge->module, address, &full, stack, &is_signal);

    if (want->regs[PC].kind == 'u') {
        if (by_row != UNWIND_END || by_full != UNWIND_END)
            complain(judge, want, "the return address is undefined, but it did not end here");
        return;
    }
    if (has_expression(want)) {
        judge->expressions++;
        if (by_row != UNWIND_COMPLEX && by_row != by_full && by_full != UNWIND_COMPLEX)
            complain(judge, want, "an expression: row and evaluator differ in their result");
        if (by_row == UNWIND_OK && by_full == UNWIND_OK &&
            (fast.pc != full.value[PC] || fast.sp != full.value[RSP] ||
             (fast.fp != full.value[RBP] && want->cfa_reg != RSP)))
            complain(judge, want, "an expression: row and evaluator differ in the registers");
        return;
    }
    uint64_t cfa = before.value[want->cfa_reg] + (uint64_t)want->cfa_offset;
    if (cfa > STACK_LO + STACK_BYTES) {
        judge->huge++;
        return;
    }
    if (fits_a_rule(want)) {
        if (by_row != UNWIND_OK || by_full != UNWIND_OK)
            complain(judge, want, "cannot be stepped");
        if (by_row == UNWIND_OK && (fast.pc != word_at(cfa - 8) || fast.sp != cfa ||
                                    fast.fp != expected_value(&want->regs[RBP], cfa, &before, RBP)))
            complain(judge, want, "the row gives wrong registers");
    } else {
        judge->complex_rows++;
        if (by_row != UNWIND_COMPLEX)
            complain(judge, want, "a row that no rule can say has one");
    }
    for (int reg = 0; by_full == UNWIND_OK && reg < REGS; reg++) {
        const struct cell *cell = &want->regs[reg];
        bool certain = strchr("csvr", cell->kind) && cell->kind;
        bool known = full.known >> reg & 1;
        uint64_t value = reg == RSP && !certain ? cfa : expected_value(cell, cfa, &before, reg);
        if (certain && !known)
            complain(judge, want, "the evaluator lost a register");
        if (cell->kind != 'e' && known && full.value[reg] != value)
            complain(judge, want, "the evaluator has a wrong register");
    }
}

/* "rsp+8", "r10+0", "rbp-16", "exp" */
static bool parse_cfa(const char *word, struct expected *row)
{
    size_t length = strcspn(word, "+-");
    row->cfa_is_expression = strcmp(word, "exp") == 0;
    if (row->cfa_is_expression)
        return true;
    row->cfa_reg = reg_number(word, length);
    row->cfa_offset = strtol(word + length, NULL, 10);
    return row->cfa_reg >= 0;
}

/* "u", "s", "c-16", "v+8", "exp", "vexp"; "r5 (rdi)" has two words. */
static void parse_cell(const char *word, struct cell *cell)
{
    cell->kind = word[0] == 'v' && word[1] == 'e' ? 'e' : word[0];
    cell->value = strtol(word + 1, NULL, 10);
}

struct table {
    int columns[32]; /* register numbers; -1 for registers that nobody follows */
    int count;
};

static void parse_columns(char *line, struct table *table)
{
    table->count = 0;
    strtok(line, " \n"); /* LOC */
    strtok(NULL, " \n"); /* CFA */
    for (char *word; (word = strtok(NULL, " \n")) && table->count < 32;)
        table->columns[table->count++] = reg_number(word, strlen(word));
}

static bool parse_row(char *line, const struct table *table, struct expected *row)
{
    for (int i = 0; i < REGS; i++)
        row->regs[i] = (struct cell){'-', 0};
    row->start = strtoul(strtok(line, " \n"), NULL, 16);
    if (!parse_cfa(strtok(NULL, " \n"), row))
        return false;
    char *word = strtok(NULL, " \n");
    for (int i = 0; word && i < table->count; i++) {
        struct cell cell;
        parse_cell(word, &cell);
        if (table->columns[i] >= 0)
            row->regs[table->columns[i]] = cell;
        word = strtok(NULL, " \n");
        if (word && word[0] == '(')
            word = strtok(NULL, " \n");
    }
    return true;
}

/* All rows of the file as readelf states them, FDE by FDE. */
struct reading {
    struct expected *rows;
    size_t count, capacity;
    struct expected cies[4096]; /* the last row of each CIE, for FDEs without any of their own */
    unsigned long cie_offsets[4096];
    size_t cie_count;
};

static void add_row(struct reading *reading, const struct expected *row)
{
    if (reading->count == reading->capacity) {
        reading->capacity = reading->capacity ? 2 * reading->capacity : 4096;
        reading->rows = realloc(reading->rows, reading->capacity * sizeof(*reading->rows));
        assert_non_null(reading->rows);
    }
    reading->rows[reading->count++] = *row;
}

/* The rows of one FDE, [first, count), lack their ends. */
static void close_fde(struct reading *reading, size_t first, unsigned long cie_offset,
                      unsigned long start, unsigned long end)
{
    if (end == 0)
        return;
    if (first == reading->count)
        for (size_t i = 0; i < reading->cie_count; i++)
            if (reading->cie_offsets[i] == cie_offset) {
                struct expected row = reading->cies[i];
                row.start = start;
                add_row(reading, &row);
            }
    for (size_t i = first; i < reading->count; i++) {
        bool last = i + 1 == reading->count;
        reading->rows[i].end = last ? end : reading->rows[i + 1].start;
    }
}

static size_t read_rows(FILE *text, struct reading *reading)
{
    char line[1024];
    struct table table = {.count = 0};
    size_t first = 0, fdes = 0;
    unsigned long cie = 0, start = 0, end = 0, at;
    bool in_cie = false;
    while (fgets(line, sizeof(line), text)) {
        char *fde = strstr(line, " FDE cie="), *location = strstr(line, "   LOC ");
        if (fde || strstr(line, " CIE \"")) {
            close_fde(reading, first, cie, start, end);
            first = reading->count;
            end = 0;
            in_cie = !fde;
        }
        if (fde) {
            assert_int_equal(sscanf(fde, " FDE cie=%lx pc=%lx..%lx", &cie, &start, &end), 3);
            fdes++;
        } else if (in_cie && sscanf(line, "%lx ", &at) == 1 && strstr(line, " CIE ")) {
            assert_true(reading->cie_count < 4096);
            reading->cie_offsets[reading->cie_count++] = at;
        } else if (location) {
            parse_columns(line, &table);
        } else if (strspn(line, "0123456789abcdef") == 16) {
            struct expected row = {0};
            assert_true(parse_row(line, &table, &row));
            if (in_cie)
                reading->cies[reading->cie_count - 1] = row;
            else
                add_row(reading, &row);
        }
    }
    close_fde(reading, first, cie, start, end);
    return fdes;
}

static int by_start(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static void judge_file(const char *path)
{
    static struct reading reading;
    struct judge judge = {.path = path};
    char command[512];
    snprintf(command, sizeof(command),
             "LC_ALL=C readelf --debug-dump=frames-interp,no-follow-links %s 2>/dev/null", path);
    FILE *text = popen(command, "r");
    assert_non_null(text);
    reading.count = reading.cie_count = 0;
    judge.fdes = read_rows(text, &reading);
    pclose(text);

    struct error error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(elf_open(&judge.elf, fd, &error), 0);
    close(fd);
    assert_int_equal(unwind_module_open(&judge.module, judge.elf, NULL, &error), 0);
    judge.compiled = rows_of(judge.module);
    assert_int_equal(judge.compiled.bad_fdes, 0);

    struct stack_view stack = view_of_stack();
    qsort(reading.rows, reading.count, sizeof(*reading.rows), by_start);
    for (size_t i = 0; i < reading.count; i++) {
        const struct expected *row = &reading.rows[i];
        if (row->end <= row->start)
            continue;
        if (i + 1 < reading.count && reading.rows[i + 1].start < row->end) {
            judge.overlapping++;
            continue;
        }
        judge.rows++;
        judge_row(&judge, row, row->start, &stack);
        judge_row(&judge, row, row->end - 1, &stack);
    }
    printf("%s: %zu FDEs, %zu rows probed twice: %zu wrong, %zu with expressions, %zu complex, %zu "
           "huge, %zu overlapping\n",
           path, judge.fdes, judge.rows, judge.wrong, judge.expressions, judge.complex_rows,
           judge.huge, judge.overlapping);
    assert_int_equal(judge.wrong, 0);
    assert_true(judge.rows > 0 && judge.fdes > 0);
    /* The classes must stay what they are: exceptions. */
    assert_true(judge.expressions + judge.complex_rows + judge.huge + judge.overlapping <=
                2 * judge.rows / 50);
    compile_free(&judge.compiled);
    unwind_module_close(judge.module);
    elf_close(judge.elf);
}

/* The first of the usual places that has it; skips the test when none does. */
static void judge_library(const char *name)
{
    static const char *const folders[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                                          "/lib64", "/usr/lib64", "/usr/bin"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", folders[i], name);
        if (access(path, R_OK) == 0) {
            judge_file(path);
            return;
        }
    }
    fprintf(stderr, "%s is not installed\n", name);
    skip();
}

static void c_library_agrees_with_readelf(void **state)
{
    (void)state;
    judge_library("libc.so.6");
}

static void dynamic_linker_agrees_with_readelf(void **state)
{
    (void)state;
    judge_library("ld-linux-x86-64.so.2");
}

static void cxx_library_agrees_with_readelf(void **state)
{
    (void)state;
    judge_library("libstdc++.so.6");
}

static void hand_written_crypto_agrees_with_readelf(void **state)
{
    (void)state;
    judge_library("libcrypto.so.3");
}

static void python_agrees_with_readelf(void **state)
{
    (void)state;
    judge_library("python3.11");
}

int main(void)
{
    if (system("readelf --version >/dev/null 2>&1") != 0) {
        fprintf(stderr, "readelf is not installed\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library_agrees_with_readelf),
        cmocka_unit_test(dynamic_linker_agrees_with_readelf),
        cmocka_unit_test(cxx_library_agrees_with_readelf),
        cmocka_unit_test(hand_written_crypto_agrees_with_readelf),
        cmocka_unit_test(python_agrees_with_readelf),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(stack_bytes);
    return failed;
}

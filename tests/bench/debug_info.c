/* SPDX-License-Identifier: MIT */
/*
 * debug_info FILE: CPU time of libdw and libelf, and of the readers of src/symbols, for the same data: the table in
 * docs/debug-info.md. Each reader opens the file anew.
 */
#include "symbols/dwarf/die_walk.h"
#include "symbols/dwarf/lines.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static size_t dies_by_libdw(Dwarf_Die *die)
{
    size_t count = 1;
    Dwarf_Die child;
    if (dwarf_tag(die) == 0 || dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges))
        count += 1;
    if (dwarf_child(die, &child) == 0)
        do
            count += dies_by_libdw(&child);
        while (dwarf_siblingof(&child, &child) == 0);
    return count;
}

static size_t dies_by_us(Dwarf_Die *unit)
{
    size_t count = 0;
    struct die_walk walk = die_walk_start(unit);
    do
        count += 1 + walk.has_code;
    while (die_walk_next(&walk, true));
    die_walk_end(&walk);
    return count;
}

static size_t lines_by_libdw(Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count = 0;
    return dwarf_getsrclines(unit, &lines, &count) == 0 ? count : 0;
}

static struct lines our_lines;

static size_t lines_by_us(Dwarf_Die *unit)
{
    struct line_table *table = lines_of(&our_lines, unit);
    if (!table || line_table_find(table, UINT64_MAX))
        return 0;
    return table->row_count;
}

static size_t all_units(Dwarf *dwarf, size_t (*ask)(Dwarf_Die *))
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;
    uint8_t type;
    size_t count = 0;
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
        count += type == DW_UT_compile || type == DW_UT_partial ? ask(&unit) : 0;
    return count;
}

static void measure(const char *path, const char *what, size_t (*ask)(Dwarf_Die *))
{
    double least_ms = 1e9;
    size_t count = 0;
    for (int i = 0; i < 5; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
        if (!dwarf || lines_init(&our_lines) != 0)
            exit(1);
        clock_t start = clock();
        count = all_units(dwarf, ask);
        double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
        least_ms = ms < least_ms ? ms : least_ms;
        lines_free(&our_lines);
        dwarf_end(dwarf);
        close(fd);
    }
    printf("%-24s %8.1f ms, %zu\n", what, least_ms, count);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    elf_version(EV_CURRENT);
    measure(argv[1], "DIEs, libdw", dies_by_libdw);
    measure(argv[1], "DIEs, die_walk", dies_by_us);
    measure(argv[1], "line rows, libdw", lines_by_libdw);
    measure(argv[1], "line rows, lines", lines_by_us);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The walk over a unit's DIEs, held against libdw's own for every version of DWARF. */
#include "symbols/dwarf/die_walk.h"
#include "toolbox.h"

#include <dwarf.h>
#include <fcntl.h>
#include <time.h>

struct opened {
    int fd;
    Elf *elf;
    Dwarf *dwarf;
};

static struct opened open_dwarf(const char *name)
{
    struct opened opened = {.fd = open(in_directory(name), O_RDONLY)};
    elf_version(EV_CURRENT);
    opened.elf = elf_begin(opened.fd, ELF_C_READ, NULL);
    opened.dwarf = dwarf_begin_elf(opened.elf, DWARF_C_READ, NULL);
    assert_non_null(opened.dwarf);
    return opened;
}

static void close_dwarf(struct opened *opened)
{
    dwarf_end(opened->dwarf);
    elf_end(opened->elf);
    close(opened->fd);
}

/* Walks along with libdw's recursion; counts the DIEs. */
static size_t compare_below(struct die_walk *walk, Dwarf_Die *die, unsigned depth)
{
    size_t count = 1;
    assert_ptr_equal(walk->die.addr, die->addr);
    assert_int_equal(walk->tag, dwarf_tag(die));
    assert_int_equal(walk->depth, depth);
    assert_int_equal(walk->has_code,
                     dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges));
    Dwarf_Die child;
    if (dwarf_child(die, &child) == 0)
        do {
            assert_true(die_walk_next(walk, true));
            count += compare_below(walk, &child, depth + 1);
        } while (dwarf_siblingof(&child, &child) == 0);
    return count;
}

static void compare_siblings(const Dwarf_Die *unit)
{
    struct die_walk walk = die_walk_start(unit);
    Dwarf_Die parent = *unit, child;
    bool has_more = die_walk_next(&walk, true);
    assert_int_equal(has_more, dwarf_child(&parent, &child) == 0);
    while (has_more) {
        assert_ptr_equal(walk.die.addr, child.addr);
        has_more = die_walk_next(&walk, false);
        assert_int_equal(has_more, dwarf_siblingof(&child, &child) == 0);
    }
    die_walk_end(&walk);
}

static size_t compare_units(const char *name)
{
    struct opened opened = open_dwarf(name);
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t count = 0;
    while (dwarf_get_units(opened.dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile && type != DW_UT_partial)
            continue;
        struct die_walk walk = die_walk_start(&die);
        count += compare_below(&walk, &die, 0);
        assert_false(die_walk_next(&walk, true));
        die_walk_end(&walk);
        compare_siblings(&die);
    }
    close_dwarf(&opened);
    return count;
}

static void visits_what_libdw_visits(void **state)
{
    (void)state;
    static const char *const options[] = {"-gdwarf-2 -gstrict-dwarf",
                                          "-gdwarf-3",
                                          "-gdwarf-4",
                                          "-gdwarf-5",
                                          "-gdwarf-5 -gdwarf64",
                                          "-gdwarf-4 -fdebug-types-section",
                                          "-g -gz"};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        assert_int_equal(run("g++ %s -O2 -o walked $S/sym_cxx.cc", options[i]), 0);
        assert_true(compare_units("walked") > 100);
    }
}

/* Ends, and stays inside the unit: valgrind and the sanitizers see to the latter. */
static void ends_on_damage(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -g -O2 -o walked $S/sym_c.c && "
                         "objcopy --dump-section .debug_info=info walked"),
                     0);
    for (unsigned seed = 1; seed <= 40; seed++) {
        assert_int_equal(run("python3 -c 'import random; random.seed(%u); "
                             "b = bytearray(open(\"info\", \"rb\").read())\n"
                             "for n in range(20): b[random.randrange(12, len(b))] = "
                             "random.randrange(256)\n"
                             "open(\"broken\", \"wb\").write(b)' && "
                             "objcopy --update-section .debug_info=broken walked damaged",
                             seed),
                         0);
        struct opened opened = open_dwarf("damaged");
        Dwarf_CU *cu = NULL;
        Dwarf_Die die;
        while (dwarf_get_units(opened.dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
            size_t steps = 0;
            struct die_walk walk = die_walk_start(&die);
            while (die_walk_next(&walk, seed % 2))
                assert_true(++steps < 1000000);
            die_walk_end(&walk);
        }
        close_dwarf(&opened);
    }
}

/* What nobody uses may be as large as it likes: it is read once, in one go. */
static void an_abbreviation_of_many_attributes_costs_what_its_bytes_cost(void **state)
{
    (void)state;
    assert_int_equal(
        run("gcc -g -O2 -o walked $S/sym_c.c && objcopy --dump-section .debug_abbrev=table walked "
            "&& python3 -c 'table = open(\"table\", \"rb\").read()\n"
            "assert table[-1] == 0\n" /* code, tag, no children, then DW_AT_name by flag_present */
            "many = b\"\\xfe\\x07\\x34\\x00\" + 100000 * b\"\\x03\\x19\"\n"
            "open(\"table\", \"wb\").write(table[:-1] + many + bytes(3))' && "
            "objcopy --update-section .debug_abbrev=table walked hostile"),
        0);
    clock_t start = clock();
    assert_true(compare_units("hostile") > 5);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_what_libdw_visits),
        cmocka_unit_test(ends_on_damage),
        cmocka_unit_test(an_abbreviation_of_many_attributes_costs_what_its_bytes_cost),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

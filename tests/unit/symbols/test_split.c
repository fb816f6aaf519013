/* SPDX-License-Identifier: MIT */
#include "symbols/split/split.h"

#include "toolbox.h"

#include <sys/stat.h>

static uint64_t size_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(in_directory(name), &status), 0);
    return (uint64_t)status.st_size;
}

static struct split *open_unit_at(struct splits *splits, Dwarf *dwarf, int index)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    for (int i = 0; i <= index; i++)
        assert_int_equal(dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL), 0);
    assert_true(split_is_skeleton(&die));
    return split_open(splits, &die);
}

/* Two units, each opened twice. */
static uint64_t bytes_counted(void)
{
    struct elf_handle handle;
    assert_int_equal(elf_handle_open(&handle, in_directory("splitted"), NULL), 0);
    Dwarf *dwarf = dwarf_begin_elf(handle.elf, DWARF_C_READ, NULL);
    struct splits splits = {.handle = &handle, .places.paths = {in_directory("splitted")}};
    for (int i = 0; i < 4; i++) {
        struct split *split = open_unit_at(&splits, dwarf, i % 2);
        assert_non_null(split);
        split_close(split);
    }
    uint64_t bytes = splits.file_bytes;
    splits_free(&splits);
    dwarf_end(dwarf);
    elf_handle_close(&handle);
    return bytes;
}

static void each_file_of_split_units_is_counted_once(void **state)
{
    (void)state;
    assert_int_equal(
        run("gcc -O2 -g -gdwarf-4 -gsplit-dwarf $S/sym_c.c -c -o one.o && "
            "gcc -O2 -g -gdwarf-4 -gsplit-dwarf $S/sym_c.c -DSECOND_FILE -c -o two.o && "
            "gcc one.o two.o -o splitted"),
        0);
    assert_int_equal(bytes_counted(), size_of("one.dwo") + size_of("two.dwo"));
    assert_int_equal(run("dwp -e splitted -o splitted.dwp && rm one.dwo two.dwo"), 0);
    assert_int_equal(bytes_counted(), size_of("splitted.dwp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_of_split_units_is_counted_once),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* SPDX-License-Identifier: MIT */
/* Kernel names: the right symbol, and none where there is none. */
#include "convert/symbolize/kallsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <cmocka.h>

/* NULL: no symbol. */
static struct kallsyms *read_text(const char *text, const uint64_t *avmas, size_t count)
{
    FILE *file = fmemopen((char *)text, strlen(text), "r");
    assert_non_null(file);
    struct kallsyms *kallsyms = kallsyms_read(file, avmas, count);
    fclose(file);
    return kallsyms;
}

static const char *name_at(struct kallsyms *kallsyms, uint64_t avma)
{
    struct symbol_result result;
    return kallsyms_find(kallsyms, avma, &result) ? result.frames[0].name : "";
}

static void the_symbol_before_an_address_is_its_name(void **state)
{
    (void)state;
    static const char text[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff81000010 T second\n"
                               "ffffffff81000010 T alias\n"
                               "ffffffff81000000 t first\n"
                               "ffffffff81000018 D data\n"
                               "garbage\n"
                               "ffffffffc0000000 t in_module\t[ext4]\n"
                               "ffffffffc0000010 W";
    static const struct {
        uint64_t avma;
        const char *name;
    } places[] = {{0xffffffff80ffffff, ""},         {0xffffffff81000000, "first"},
                  {0xffffffff81000001, "first"},    {0xffffffff8100000f, "first"},
                  {0xffffffff81000010, "alias"},    {0xffffffff81000020, "alias"},
                  {0xffffffff81000020, "alias"},    {0xffffffff91000020, ""},
                  {0xffffffffc0000010, "in_module"}};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    uint64_t avmas[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        avmas[i] = places[i].avma;
    struct kallsyms *kallsyms = read_text(text, avmas, PLACES);
    assert_non_null(kallsyms);
    for (size_t i = 0; i < PLACES; i++)
        assert_string_equal(name_at(kallsyms, places[i].avma), places[i].name);
    assert_string_equal(name_at(kallsyms, 0xffffffff81000002), ""); /* not wanted */
    kallsyms_close(kallsyms);
}

/* The first line that is not read; "": all are. */
static const char *unread_line(uint64_t lowest_avma, uint64_t highest_avma, char line[64])
{
    static const char text[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff81000000 T first\n"
                               "ffffffff81000010 T second\n"
                               "ffffffff81000020 T third\n"
                               "ffffffff81000030 T fourth\n"
                               "ffffffffc0000010 t of_module\t[ext4]\n"
                               "ffffffffa0000010 t of_other_module\t[xfs]\n";
    const uint64_t avmas[] = {lowest_avma, highest_avma};
    FILE *file = fmemopen((char *)text, sizeof(text) - 1, "r");
    assert_non_null(file);
    struct kallsyms *kallsyms = kallsyms_read(file, avmas, 2);
    if (!fgets(line, 64, file))
        line[0] = '\0';
    kallsyms_close(kallsyms);
    fclose(file);
    return line;
}

static void reading_ends_behind_the_wanted_names(void **state)
{
    (void)state;
    char line[64];
    assert_string_equal(unread_line(0xffffffff81000004, 0xffffffff81000018, line),
                        "ffffffff81000030 T fourth\n");
    assert_string_equal(unread_line(0xffffffff81000004, 0xffffffff81000034, line), "");
    assert_string_equal(unread_line(0xffffffff81000004, 0xffffffffa0000018, line), "");
    assert_string_equal(unread_line(0xffffffff80000004, 0xffffffff81000018, line), "");
}

static void hidden_addresses_give_nothing(void **state)
{
    (void)state;
    static const char text[] = "0000000000000000 T _stext\n0000000000000000 T do_idle\n";
    const uint64_t avma = 0xffffffff81000000;
    assert_null(read_text(text, &avma, 1));
    assert_null(read_text("\n", &avma, 1));
}

static void other_machines_and_boots_have_other_addresses(void **state)
{
    (void)state;
    struct utsname system;
    struct kallsyms *kallsyms;
    assert_int_equal(uname(&system), 0);
    struct perfdata_facts facts = {.host = "elsewhere", .os_release = system.release};
    assert_int_equal(kallsyms_open(&kallsyms, &facts, NULL, 0), KALLSYMS_ELSEWHERE);
    facts = (struct perfdata_facts){.host = system.nodename, .os_release = "1.0"};
    assert_int_equal(kallsyms_open(&kallsyms, &facts, NULL, 0), KALLSYMS_ELSEWHERE);
    facts = (struct perfdata_facts){
        .host = system.nodename, .os_release = system.release, .wall_ns = 1000000000};
    assert_int_equal(kallsyms_open(&kallsyms, &facts, NULL, 0), KALLSYMS_ELSEWHERE);
    facts.wall_ns = UINT64_MAX / 2;
    enum kallsyms_state now = kallsyms_open(&kallsyms, &facts, NULL, 0);
    assert_int_equal(now, kallsyms ? KALLSYMS_READ : KALLSYMS_HIDDEN);
    kallsyms_close(kallsyms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_symbol_before_an_address_is_its_name),
        cmocka_unit_test(reading_ends_behind_the_wanted_names),
        cmocka_unit_test(hidden_addresses_give_nothing),
        cmocka_unit_test(other_machines_and_boots_have_other_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

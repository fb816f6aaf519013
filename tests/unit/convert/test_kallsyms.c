/* SPDX-License-Identifier: MIT */
/* Kernel names: the right symbol, and none where there is none. */
#include "convert/symbolize/kallsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>

#include <cmocka.h>

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
                               "ffffffff81000000 t first\n"
                               "ffffffff81000018 D data\n"
                               "garbage\n"
                               "ffffffffc0000000 t in_module\t[ext4]\n"
                               "ffffffffc0000010 W";
    struct kallsyms *kallsyms = kallsyms_parse(text, sizeof(text) - 1);
    assert_non_null(kallsyms);
    assert_string_equal(name_at(kallsyms, 0xffffffff80ffffff), "");
    assert_string_equal(name_at(kallsyms, 0xffffffff81000000), "first");
    assert_string_equal(name_at(kallsyms, 0xffffffff8100000f), "first");
    assert_string_equal(name_at(kallsyms, 0xffffffff81000020), "second");
    assert_string_equal(name_at(kallsyms, 0xffffffff91000020), "");
    assert_string_equal(name_at(kallsyms, 0xffffffffc0000010), "in_module");
    kallsyms_close(kallsyms);
}

static void hidden_addresses_give_nothing(void **state)
{
    (void)state;
    static const char text[] = "0000000000000000 T _stext\n0000000000000000 T do_idle\n";
    assert_null(kallsyms_parse(text, sizeof(text) - 1));
    assert_null(kallsyms_parse(NULL, 0));
}

static void other_machines_and_boots_have_other_addresses(void **state)
{
    (void)state;
    struct utsname system;
    struct kallsyms *kallsyms;
    assert_int_equal(uname(&system), 0);
    struct perfdata_facts facts = {.host = "elsewhere", .os_release = system.release};
    assert_int_equal(kallsyms_open(&kallsyms, &facts), KALLSYMS_ELSEWHERE);
    facts = (struct perfdata_facts){.host = system.nodename, .os_release = "1.0"};
    assert_int_equal(kallsyms_open(&kallsyms, &facts), KALLSYMS_ELSEWHERE);
    facts = (struct perfdata_facts){
        .host = system.nodename, .os_release = system.release, .wall_ns = 1000000000};
    assert_int_equal(kallsyms_open(&kallsyms, &facts), KALLSYMS_ELSEWHERE);
    facts.wall_ns = UINT64_MAX / 2;
    enum kallsyms_state now = kallsyms_open(&kallsyms, &facts);
    assert_int_equal(now, kallsyms ? KALLSYMS_READ : KALLSYMS_HIDDEN);
    kallsyms_close(kallsyms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_symbol_before_an_address_is_its_name),
        cmocka_unit_test(hidden_addresses_give_nothing),
        cmocka_unit_test(other_machines_and_boots_have_other_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The kernel's place and build-id, from made texts of /proc/kallsyms and /sys/kernel/notes. */
#include "record/procfs/kernel/kernel_image.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Two notes of 4-byte names: "Linux" is not one of them, its name has 6 bytes and padding. */
static const uint8_t notes[] = {6,   0,   0, 0, 2, 0, 0,   0,   6,   0, 0,    0,    'L',  'i', 'n',
                                'u', 'x', 0, 0, 0, 7, 7,   0,   0,   4, 0,    0,    0,    4,   0,
                                0,   0,   3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 1};

static int parse(struct kernel_image *image, const char *text, size_t notes_bytes)
{
    FILE *symbols = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(symbols);
    int err = kernel_image_parse(image, symbols, notes, notes_bytes);
    fclose(symbols);
    return err;
}

static void the_start_is_the_symbol_text(void **state)
{
    (void)state;
    struct kernel_image image;
    assert_int_equal(parse(&image,
                           "0000000000000000 A fixed_percpu_data\n"
                           "ffffffff81000000 T _stext\nffffffff81000010 t my_text\n"
                           "ffffffff81000020 T _text\nffffffff81000030 T x\n",
                           sizeof(notes)),
                     0);
    assert_int_equal(image.text_avma, 0xffffffff81000020);
    assert_int_equal(image.build_id_bytes, 4);
    assert_memory_equal(image.build_id, "\xab\xcd\xef\x01", 4);
}

static void hidden_addresses_are_refused(void **state)
{
    (void)state;
    struct kernel_image image;
    assert_int_equal(parse(&image, "0000000000000000 T _text\n", sizeof(notes)), -EACCES);
    assert_int_equal(parse(&image, "ffffffff81000000 T _stext\n", sizeof(notes)), -EACCES);
}

static void cut_notes_give_no_build_id(void **state)
{
    (void)state;
    struct kernel_image image;
    for (size_t size = 0; size < sizeof(notes); size++) {
        assert_int_equal(parse(&image, "ffffffff81000000 T _text\n", size), 0);
        assert_int_equal(image.build_id_bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_is_the_symbol_text),
        cmocka_unit_test(hidden_addresses_are_refused),
        cmocka_unit_test(cut_notes_give_no_build_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

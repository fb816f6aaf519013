/* SPDX-License-Identifier: MIT */
/* Compressed sections read piece by piece: the bytes are those that were compressed, whatever the sizes. */
#include "elf/decompress.h"
#include "elf/elf_stream.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "packed_section.h"

enum { MOST_BYTES = 300000, CHUNK = 1 << 15 };

static uint8_t plain[MOST_BYTES], packed[2 * MOST_BYTES], got[MOST_BYTES];

/* Its last bytes cut off, or (less than none) followed by others. */
static struct elf_file *open_packed(size_t bytes, ssize_t cut, struct elf_section *section)
{
    uLongf size = sizeof(packed);
    assert_int_equal(compress(packed, &size, plain, bytes), Z_OK);
    return packed_section_open(packed, size - (uLongf)cut, bytes, section);
}

/* step bytes at once; of every third step they are left out. */
static int read_in_steps(struct elf_stream *stream, size_t bytes, size_t step)
{
    int err = 0;
    for (size_t at = 0, turn = 0; at < bytes && err == 0; turn++) {
        size_t size = bytes - at < step ? bytes - at : step;
        err = elf_stream_read(stream, turn % 3 == 2 ? NULL : got + at, size);
        if (err == 0 && turn % 3 != 2)
            assert_memory_equal(got + at, plain + at, size);
        at += size;
    }
    return err;
}

static int read_packed(size_t bytes, ssize_t cut, size_t step, size_t more)
{
    struct elf_section section;
    struct elf_file *elf = open_packed(bytes, cut, &section);
    struct elf_stream *stream;
    assert_int_equal(elf_stream_open(&stream, elf, &section), 0);
    assert_int_equal(elf_stream_bytes(stream), bytes);
    int err = read_in_steps(stream, bytes, step);
    if (err == 0 && more)
        err = elf_stream_read(stream, NULL, more);
    elf_stream_close(stream);
    elf_close(elf);
    return err;
}

static int fill(void **state)
{
    (void)state;
    srandom(1);
    for (size_t i = 0; i < MOST_BYTES; i++) /* noise, repetition, nothing in turn */
        plain[i] = (uint8_t)(i / 5000 % 3 == 0 ? (size_t)random() : i / 5000 % 3 == 1 ? i % 7 : 0);
    return 0;
}

static void pieces_are_what_was_compressed(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,         12,        CHUNK - 1,     CHUNK,
                                   CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5, MOST_BYTES};
    static const size_t steps[] = {7, 4096, CHUNK, 100000, MOST_BYTES};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
            assert_int_equal(read_packed(sizes[i], 0, steps[k], 0), 0);
}

static void nothing_follows_the_end(void **state)
{
    (void)state;
    assert_int_equal(read_packed(CHUNK, 0, CHUNK, 1), -EBADMSG);
    assert_int_equal(read_packed(5, 0, 5, 1), -EBADMSG);
    assert_int_equal(read_packed(CHUNK, -100, CHUNK, 1), -EBADMSG);
}

static void what_is_cut_off_fails(void **state)
{
    (void)state;
    assert_int_equal(read_packed(MOST_BYTES, 60000, 4096, 0), -EBADMSG);
}

static void noise_fails(void **state)
{
    (void)state;
    struct elf_section section;
    struct elf_stream *stream;
    for (size_t i = 1; i < 200; i++) {
        struct elf_file *elf = open_packed(10 * i, 0, &section);
        section.offset += sizeof(Elf64_Chdr) + i; /* what lies there is a header to nobody */
        section.bytes -= sizeof(Elf64_Chdr) + i;
        if (elf_stream_open(&stream, elf, &section) == 0) {
            assert_int_not_equal(elf_stream_read(stream, got, MOST_BYTES), 0);
            elf_stream_close(stream);
        }
        elf_close(elf);
    }
}

static void other_sections_are_refused(void **state)
{
    (void)state;
    struct elf_section section;
    struct elf_stream *stream;
    struct elf_file *elf = open_packed(100, 0, &section);
    section.flags = 0;
    assert_int_equal(elf_stream_open(&stream, elf, &section), -ENOTSUP);
    section = (struct elf_section){.flags = SHF_COMPRESSED, .offset = 1 << 20, .bytes = 100};
    assert_int_equal(elf_stream_open(&stream, elf, &section), -ENODATA);
    elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_what_was_compressed), cmocka_unit_test(nothing_follows_the_end),
        cmocka_unit_test(what_is_cut_off_fails),          cmocka_unit_test(noise_fails),
        cmocka_unit_test(other_sections_are_refused),
    };
    if (strstr(decompress_missing(), "isal"))
        return 77;
    elf_stream_prepare();
    return cmocka_run_group_tests(tests, fill, NULL);
}

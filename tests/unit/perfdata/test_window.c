/* SPDX-License-Identifier: MIT */
#include "perfdata/read/window.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Blocks of a large file are read ahead. No power of two: the last block is not whole. */
enum { LARGE_BYTES = (19 << 20) + 777 * 8, SMALL_BYTES = (1 << 20) + 8 };

/* A file whose every word is its offset. */
static int made_file(size_t size)
{
    char path[] = "/tmp/rec-test-window.XXXXXX";
    int fd = mkstemp(path);
    uint64_t *words = malloc(size);
    for (size_t i = 0; i < size / 8; i++)
        words[i] = i * 8;
    assert_true(fd >= 0 && unlink(path) == 0);
    assert_int_equal(write(fd, words, size), (ssize_t)size);
    free(words);
    return fd;
}

static void assert_is_from(const uint8_t *bytes, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof(word));
        assert_int_equal(word, offset + i);
    }
}

static void assert_reads(struct window *window, uint64_t offset, size_t size)
{
    const uint8_t *bytes;
    size_t there;
    assert_int_equal(window_get(window, offset, size, &bytes, &there), 0);
    assert_true(there >= size);
    /* None of it is from behind the end. */
    assert_true(there <= window->file_bytes - offset);
    assert_is_from(bytes, offset, size);
}

static void read_through(size_t file_bytes)
{
    struct window window;
    int fd = made_file(file_bytes);
    window_open(&window, fd, file_bytes);
    for (size_t at = 0, size = 8; at < file_bytes; at += size, size = (size * 5 + 8) % 65544)
        assert_reads(&window, at, size < file_bytes - at ? size : file_bytes - at);
    window_close(&window);
    close(fd);
}

static void records_that_reach_into_the_next_block_are_whole(void **state)
{
    (void)state;
    read_through(SMALL_BYTES);
    read_through(LARGE_BYTES);
}

static void any_place_can_follow_any_other(void **state)
{
    (void)state;
    const uint64_t offsets[] = {0,
                                18 << 20,
                                8,
                                (1 << 20) - 8,
                                (1 << 20) + 8,
                                LARGE_BYTES - 8,
                                5 << 20,
                                (5 << 20) - 8,
                                (7 << 20) + 65536,
                                6 << 20};
    struct window window;
    int fd = made_file(LARGE_BYTES);
    window_open(&window, fd, LARGE_BYTES);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        assert_reads(&window, offsets[i], 8);
    window_reuse(&window, fd, LARGE_BYTES);
    assert_reads(&window, 0, 65536);
    window_close(&window);
    close(fd);
}

/* For stacks that wait for their turn in the order of time. */
static void what_is_held_stays(void **state)
{
    (void)state;
    enum { HELD = 19 };
    const uint8_t *bytes[HELD];
    size_t there;
    struct window_block *blocks[HELD];
    struct window window;
    int fd = made_file(LARGE_BYTES);
    window_open(&window, fd, LARGE_BYTES);
    for (size_t i = 0; i < HELD; i++) {
        assert_int_equal(window_get(&window, i << 20, 65536, &bytes[i], &there), 0);
        blocks[i] = window.at_hand;
        window_block_hold(blocks[i]);
    }
    for (size_t i = 0; i < HELD; i++) {
        assert_is_from(bytes[i], i << 20, 65536);
        window_block_release(blocks[i]);
    }
    window_close(&window);
    close(fd);
}

/* Of the files of a directory one may be small and the next one large. */
static void a_large_file_can_follow_a_small_one(void **state)
{
    (void)state;
    struct window window;
    int small = made_file(SMALL_BYTES), large = made_file(LARGE_BYTES);
    window_open(&window, small, SMALL_BYTES);
    assert_reads(&window, 0, 8);
    struct window_block *held = window.at_hand;
    window_block_hold(held);
    assert_reads(&window, 1 << 20, 8);
    window_reuse(&window, large, LARGE_BYTES);
    window_block_release(held);
    for (uint64_t at = 0; at + 65536 < LARGE_BYTES; at += 65536)
        assert_reads(&window, at, 65536);
    window_close(&window);
    close(small);
    close(large);
}

static void a_file_that_became_shorter_ends_with_an_error(void **state)
{
    (void)state;
    const uint8_t *bytes;
    size_t there;
    struct window window;
    int fd = made_file(LARGE_BYTES);
    window_open(&window, fd, LARGE_BYTES);
    assert_reads(&window, 0, 8);
    assert_int_equal(ftruncate(fd, 6 << 20), 0);
    for (uint64_t at = 1 << 20; at < 3 << 20; at += 1 << 20)
        assert_reads(&window, at, 8);
    assert_int_equal(window_get(&window, 6 << 20, 8, &bytes, &there), -ENODATA);
    assert_int_equal(window_get(&window, 8 << 20, 8, &bytes, &there), -ENODATA);
    assert_reads(&window, 8, 8);
    window_close(&window);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_reach_into_the_next_block_are_whole),
        cmocka_unit_test(any_place_can_follow_any_other),
        cmocka_unit_test(what_is_held_stays),
        cmocka_unit_test(a_large_file_can_follow_a_small_one),
        cmocka_unit_test(a_file_that_became_shorter_ends_with_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

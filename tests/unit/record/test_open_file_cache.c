/* SPDX-License-Identifier: MIT */
/* Which of the held files are handed out: those that are gone from their path, as they were. */
#include "record/tables/files/open_file_cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t id[] = {1, 2, 3, 4};

struct fixture {
    struct open_file_cache kept;
    char directory[64];
    char path[80], other[80];
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/rec-kept-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/file", fixture->directory);
    snprintf(fixture->other, sizeof(fixture->other), "%s/other", fixture->directory);
    write_file(fixture->path, "what was mapped");
    int fd = open(fixture->path, O_RDONLY);
    open_file_cache_add(&fixture->kept, getpid(), fixture->path, id, sizeof(id), fd);
    close(fd);
    *state = fixture;
    if (fixture->kept.count == 0)
        skip(); /* a file system that is not held open */
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    unlink(fixture->other);
    rmdir(fixture->directory);
    open_file_cache_free(&fixture->kept);
    free(fixture);
    return 0;
}

static const char *found(struct fixture *fixture)
{
    open_file_cache_drop_present(&fixture->kept);
    return open_file_cache_find(&fixture->kept, fixture->path, id, sizeof(id));
}

static void assert_was_mapped(const char *path)
{
    char text[32] = "";
    assert_non_null(path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "what was mapped");
}

static void test_a_deleted_file_is_found(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    assert_was_mapped(found(fixture));
}

static void test_a_replaced_file_is_found_as_it_was(void **state)
{
    struct fixture *fixture = *state;
    write_file(fixture->other, "what came then!");
    assert_int_equal(rename(fixture->other, fixture->path), 0);
    assert_was_mapped(found(fixture));
}

static void test_one_that_is_still_there_is_let_go(void **state)
{
    struct fixture *fixture = *state;
    assert_null(found(fixture));
    assert_int_equal(fixture->kept.count, 0);
    assert_int_equal(fixture->kept.bytes, 0);
}

/* Its bytes are lost, and what is there now has nothing to do with the samples. */
static void test_one_that_was_written_over_is_let_go(void **state)
{
    struct fixture *fixture = *state;
    write_file(fixture->path, "longer than what was there");
    assert_null(found(fixture));
}

static void test_another_build_of_that_name_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    static const uint8_t other[] = {1, 2, 3, 5};
    unlink(fixture->path);
    assert_non_null(found(fixture));
    assert_null(open_file_cache_find(&fixture->kept, fixture->path, other, sizeof(other)));
    assert_null(open_file_cache_find(&fixture->kept, fixture->path, id, 0));
}

/* A build runs thousands of programs. */
static void test_their_number_is_limited(void **state)
{
    struct fixture *fixture = *state;
    int fd = open(fixture->path, O_RDONLY);
    for (int i = 0; i < 2000; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/other/%d", i);
        assert_true(open_file_cache_add(&fixture->kept, getpid(), path, id, sizeof(id), fd));
    }
    close(fd);
    assert_in_range(fixture->kept.count, 1, 256);
    assert_int_equal(fixture->kept.bytes, fixture->kept.count * strlen("what was mapped"));
    assert_null(open_file_cache_find(&fixture->kept, fixture->path, id, sizeof(id)));
}

/* A program mapped by processes of two sources, or by many processes. */
static void test_the_same_file_is_held_once(void **state)
{
    struct fixture *fixture = *state;
    int fd = open(fixture->path, O_RDONLY);
    assert_true(open_file_cache_add(&fixture->kept, getpid(), fixture->path, id, sizeof(id), fd));
    close(fd);
    assert_int_equal(fixture->kept.count, 1);
    write_file(fixture->other, "a later build");
    fd = open(fixture->other, O_RDONLY);
    assert_true(open_file_cache_add(&fixture->kept, getpid(), fixture->path, id, sizeof(id), fd));
    close(fd);
    assert_int_equal(fixture->kept.count, 2);
}

/* More files than are held, so that entries move, and go. */
static void *add_many(void *context)
{
    struct fixture *fixture = context;
    int fd = open(fixture->path, O_RDONLY);
    for (int i = 0; i < 4000; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/other/%d", i);
        open_file_cache_add(&fixture->kept, getpid(), path, id, sizeof(id), fd);
    }
    close(fd);
    return NULL;
}

static void test_files_are_opened_while_another_thread_adds_files(void **state)
{
    struct fixture *fixture = *state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, add_many, fixture), 0);
    for (int i = 0; i < 4000; i++) {
        char path[32], text[32] = "";
        snprintf(path, sizeof(path), "/other/%d", i);
        int fd = open_file_cache_open(&fixture->kept, path, id, sizeof(id));
        if (fd < 0)
            continue;
        assert_int_equal(read(fd, text, sizeof(text) - 1), strlen("what was mapped"));
        assert_string_equal(text, "what was mapped");
        close(fd);
    }
    pthread_join(thread, NULL);
    int fd = open_file_cache_open(&fixture->kept, "/other/3999", id, sizeof(id));
    assert_true(fd >= 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_deleted_file_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_replaced_file_is_found_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_is_still_there_is_let_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_same_file_is_held_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_are_opened_while_another_thread_adds_files,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_was_written_over_is_let_go, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_build_of_that_name_is_not_found, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_their_number_is_limited, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

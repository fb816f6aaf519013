/* SPDX-License-Identifier: MIT */
#include "export/source.h"

#include "base/files/rights.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[] = "/tmp/source-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink("file.c");
    unlink("fifo.c");
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

static int read_back(const char *name, struct buffer *out)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return source_read(path, 0, out);
}

static int read_file_of(const void *bytes, size_t size, struct buffer *out)
{
    FILE *file = fopen("file.c", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return read_back("file.c", out);
}

static void a_text_file_is_read_whole(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(read_file_of("int x;\n", 7, &out), 0);
    assert_string_equal((const char *)out.bytes, "int x;\n");
    buffer_clear(&out);
    assert_int_equal(read_file_of("", 0, &out), 0);
    assert_string_equal((const char *)out.bytes, "");
    buffer_free(&out);
}

static void at_most_one_mebibyte_is_read(void **state)
{
    (void)state;
    struct buffer out = {0};
    char *text = malloc((1 << 20) + 1);
    assert_non_null(text);
    memset(text, 'x', (1 << 20) + 1);
    assert_int_equal(read_file_of(text, 1 << 20, &out), 0);
    buffer_clear(&out);
    assert_int_not_equal(read_file_of(text, (1 << 20) + 1, &out), 0);
    free(text);
    buffer_free(&out);
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_not_equal(read_file_of("ELF\0", 4, &out), 0);
    buffer_free(&out);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(mkfifo("fifo.c", 0600), 0);
    assert_int_not_equal(read_back("fifo.c", &out), 0);
    assert_int_not_equal(source_read("/dev/zero", 0, &out), 0);
    assert_int_not_equal(source_read("/", 0, &out), 0);
    buffer_free(&out);
}

static void a_relative_path_is_refused(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(read_file_of("x", 1, &out), 0);
    assert_int_not_equal(source_read("file.c", 0, &out), 0);
    buffer_free(&out);
}

/* What a hostile binary could ask for, and what real ones do. */
static void only_what_is_named_like_source_is_read(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(read_file_of("secret", 6, &out), 0);
    static const char *const names[] = {"id_rsa",  "key.pem", ".c",       "passwd",
                                        "conf.py", "env.ts",  "conf.lua", "conf.js"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(rename("file.c", names[i]), 0);
        assert_int_equal(read_back(names[i], &out), -EINVAL);
        assert_int_equal(symlink(names[i], "file.c"), 0);
        assert_int_equal(read_back("file.c", &out), -EINVAL);
        unlink("file.c");
        assert_int_equal(rename(names[i], "file.c"), 0);
    }
    buffer_clear(&out);
    assert_int_equal(rename("file.c", "real.rs"), 0);
    assert_int_equal(symlink("real.rs", "file.c"), 0);
    assert_int_equal(read_back("file.c", &out), 0);
    unlink("real.rs");
    unlink("file.c");
    buffer_free(&out);
}

static void headers_without_suffix_are_those_of_the_standard_library(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(read_file_of("text", 4, &out), 0);
    assert_int_equal(system("mkdir -p include/c++/12 && cp file.c include/secret && "
                            "cp file.c include/c++/12/vector"),
                     0);
    buffer_clear(&out);
    assert_int_equal(read_back("include/secret", &out), -EINVAL);
    assert_int_equal(read_back("include/c++/12/vector", &out), 0);
    assert_int_equal(system("rm -r include"), 0);
    buffer_free(&out);
}

static void a_file_written_later_than_stated_is_left_out(void **state)
{
    (void)state;
    struct buffer out = {0};
    char path[256];
    struct stat file;
    assert_int_equal(read_file_of("text", 4, &out), 0);
    snprintf(path, sizeof(path), "%s/file.c", directory);
    assert_int_equal(stat(path, &file), 0);
    buffer_clear(&out);
    assert_int_equal(source_read(path, file.st_mtime - 1, &out), -ESTALE);
    assert_int_equal(out.size, 0);
    assert_int_equal(source_read(path, file.st_mtime, &out), 0);
    buffer_free(&out);
}

/* For root on behalf of another user. */
static void a_file_that_the_reader_cannot_read_is_left_out(void **state)
{
    (void)state;
    static const struct rights reader = {.uid = 65534, .gid = 65534};
    struct buffer out = {0};
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(read_file_of("text", 4, &out), 0);
    assert_int_equal(chmod("file.c", 0600), 0);
    rights_set_reader(&reader);
    buffer_clear(&out);
    assert_int_equal(read_back("file.c", &out), -EACCES);
    assert_int_equal(chmod("file.c", 0644), 0);
    assert_int_equal(read_back("file.c", &out), 0);
    rights_set_reader(NULL);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_file_is_read_whole),
        cmocka_unit_test(only_what_is_named_like_source_is_read),
        cmocka_unit_test(at_most_one_mebibyte_is_read),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(what_is_no_regular_file_is_refused_without_waiting),
        cmocka_unit_test(a_relative_path_is_refused),
        cmocka_unit_test(headers_without_suffix_are_those_of_the_standard_library),
        cmocka_unit_test(a_file_written_later_than_stated_is_left_out),
        cmocka_unit_test(a_file_that_the_reader_cannot_read_is_left_out),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

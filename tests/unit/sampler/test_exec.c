/* SPDX-License-Identifier: MIT */
/* The search of execvp(), and a failed exec. */
#define __nonnull(parameters) /* as the sampler is compiled: programs may pass NULL */
#include "sampler/exec/exec.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct process process;
static char directory[] = "/tmp/test_exec.XXXXXX";
static char looked_at[SEARCH_PATH_MAX];
static int looks, announced, forgotten;

enum exec_kind exec_target_kind(const char *path)
{
    looks++;
    snprintf(looked_at, sizeof(looked_at), "%s", path);
    return EXEC_UNSUITABLE;
}

void departure_announce(enum exec_kind kind)
{
    (void)kind;
    announced++;
}

void departure_forget(void)
{
    forgotten++;
}

size_t environ_bytes(char *const *environment)
{
    (void)environment;
    return 0;
}

char **environ_into(void *memory, char *const *environment, bool takes_variables)
{
    (void)environment;
    (void)takes_variables;
    return memory;
}

bool environ_wants_successor(void)
{
    return true;
}

bool environ_is_of_other(char *const *environment)
{
    (void)environment;
    return false;
}

void exit_time_note_exec(bool is_of_other)
{
    (void)is_of_other;
}

void exit_time_forget(void)
{
}

void *next_symbol(enum next_index index)
{
    (void)index;
    return NULL;
}

static void make_file(const char *name, mode_t mode)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void search_in(const char *before)
{
    char path[300];
    snprintf(path, sizeof(path), "%s%s:/nonexistent", before, directory);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

static int set_up_group(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    make_file("executable", 0755);
    make_file("data", 0644);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    looks = announced = forgotten = 0;
    looked_at[0] = '\0';
    return 0;
}

static int tear_down_group(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof(command), "/bin/rm -r '%s'", directory);
    return system(command);
}

static void assert_finds(const char *name)
{
    char expected[300];
    snprintf(expected, sizeof(expected), "%s/%s", directory, name);
    assert_int_equal(exec_search_kind(name), EXEC_UNSUITABLE);
    assert_string_equal(looked_at, expected);
}

static void the_first_executable_file_of_the_path_is_found(void **state)
{
    (void)state;
    search_in("");
    assert_finds("executable");
    search_in("/nonexistent:/proc/self:");
    assert_finds("executable");
}

static void a_name_with_a_slash_is_not_searched(void **state)
{
    (void)state;
    search_in("");
    assert_int_equal(exec_search_kind("./executable"), EXEC_UNSUITABLE);
    assert_string_equal(looked_at, "./executable");
}

static void missing_and_other_files_are_left_to_the_c_library(void **state)
{
    (void)state;
    search_in("");
    assert_int_equal(exec_search_kind("missing"), EXEC_TAKES_SAMPLER);
    assert_int_equal(exec_search_kind("data"), EXEC_TAKES_SAMPLER);
    assert_int_equal(exec_search_kind(""), EXEC_TAKES_SAMPLER);
    assert_int_equal(looks, 0);
}

static void without_a_path_the_default_of_execvp_is_searched(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("PATH"), 0);
    assert_int_equal(exec_search_kind("sh"), EXEC_UNSUITABLE);
    assert_string_equal(looked_at, "/bin/sh");
}

static void names_longer_than_a_path_are_not_found(void **state)
{
    (void)state;
    char name[2 * SEARCH_PATH_MAX], path[4 * SEARCH_PATH_MAX];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    search_in("");
    assert_int_equal(exec_search_kind(name), EXEC_TAKES_SAMPLER);
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(exec_search_kind("executable"), EXEC_TAKES_SAMPLER);
    assert_int_equal(looks, 0);
}

static void a_failed_exec_takes_the_announcement_back(void **state)
{
    (void)state;
    char *words[] = {"nothing", NULL};
    assert_int_equal(execve("/nonexistent/program", words, words), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(announced, 1);
    assert_int_equal(forgotten, 1);
}

static void a_list_of_words_becomes_an_array(void **state)
{
    (void)state;
    assert_int_equal(execl("/nonexistent/program", "a", "b", (char *)NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(execle("/nonexistent/program", "a", (char *)NULL, environ), -1);
    assert_int_equal(errno, ENOENT);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_executable_file_of_the_path_is_found),
        TEST(a_name_with_a_slash_is_not_searched),
        TEST(missing_and_other_files_are_left_to_the_c_library),
        TEST(without_a_path_the_default_of_execvp_is_searched),
        TEST(names_longer_than_a_path_are_not_found),
        TEST(a_failed_exec_takes_the_announcement_back),
        TEST(a_list_of_words_becomes_an_array),
    };
    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

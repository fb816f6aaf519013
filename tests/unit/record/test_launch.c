/* SPDX-License-Identifier: MIT */
/* Which file a command is, as a shell would find it, and the environment that it gets. */
#include "record/launch/exec_target.h"
#include "record/launch/launch.h"
#include "record/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[64]; /* top/first, top/second: two places for programs */

static void make_file(const char *name, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void make_directory(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(top, "/tmp/rec-test-XXXXXX");
    assert_non_null(mkdtemp(top));
    make_directory("first");
    make_directory("second");
    make_directory("first/folder");
    make_file("first/text", 0644);
    make_file("first/both", 0755);
    make_file("second/both", 0755);
    make_file("second/text", 0755);
    make_file("second/only", 0755);
    make_file("second/note", 0644);
    make_file("here", 0755);
    char path[256];
    snprintf(path, sizeof(path), "%s/first:%s/second", top, top);
    assert_int_equal(setenv("PATH", path, 1), 0);
    return chdir(top);
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const files[] = {"first/folder", "first/text",  "first/both",  "second/both",
                                        "second/text",  "second/only", "second/note", "here",
                                        "first",        "second"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (unlink(files[i]) != 0)
            rmdir(files[i]);
    assert_int_equal(chdir("/"), 0);
    return rmdir(top);
}

static void finds(const char *command, const char *expected)
{
    char path[4096], wanted[256];
    struct error error = {""};
    assert_int_equal(launch_find(command, path, &error), 0);
    snprintf(wanted, sizeof(wanted), "%s/%s", top, expected);
    assert_string_equal(path, wanted);
}

static void refuses(const char *command, int status, const char *reason)
{
    char path[4096];
    struct error error = {""};
    assert_int_equal(launch_find(command, path, &error), status);
    assert_non_null(strstr(error.text, reason));
    assert_non_null(strstr(error.text, command));
}

static void the_first_place_that_has_it_wins(void **state)
{
    (void)state;
    finds("both", "first/both");
    finds("only", "second/only");
}

static void what_cannot_be_run_is_passed_over(void **state)
{
    (void)state;
    finds("text", "second/text");
}

static void nothing_that_can_be_run_is_126_and_nothing_at_all_127(void **state)
{
    (void)state;
    refuses("note", 126, "cannot run");
    refuses("folder", 126, "cannot run");
    refuses("missing", 127, "command not found");
    refuses("", 127, "command not found");
}

static void a_path_is_taken_as_it_is(void **state)
{
    (void)state;
    char path[4096];
    struct error error = {""};
    assert_int_equal(launch_find("second/both", path, &error), 0);
    assert_string_equal(path, "second/both");
    refuses("./both", 127, "no such file");
    refuses("./first", 126, "cannot run");
    refuses("./here/below", 127, "no such file");
    refuses("second/note", 126, "cannot run");
}

static void an_empty_place_is_the_working_directory(void **state)
{
    (void)state;
    static const char *const places[] = {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        assert_int_equal(setenv("PATH", places[i], 1), 0);
        char path[4096];
        struct error error = {""};
        assert_int_equal(launch_find("here", path, &error), 0);
        assert_string_equal(path, "./here");
    }
}

static void without_path_the_usual_places_are_searched(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("PATH"), 0);
    char path[4096];
    struct error error = {""};
    assert_int_equal(launch_find("sh", path, &error), 0);
    assert_string_equal(strrchr(path, '/'), "/sh");
    assert_int_equal(access(path, X_OK), 0);
}

static const char *value_of(char *const *variables, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);
    for (; *variables; variables++)
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=') {
            assert_null(found); /* once only */
            found = *variables + length + 1;
        }
    return found;
}

/* Not open: what matters are the numbers. */
static const struct session session = {.tables_fd = 900,
                                       .requests_fd = 901,
                                       .token = 0xabcdef0123,
                                       .sampler_path = "/opt/librec-sampler.so"};

static size_t count_of(char *const *variables)
{
    size_t count = 0;
    while (variables[count])
        count++;
    return count;
}

static void the_command_is_invited_and_its_environment_kept(void **state)
{
    (void)state;
    unsetenv("LD_PRELOAD");
    unsetenv(SESSION_VARIABLE);
    setenv("LD_PRELOAD_ALSO", "kept", 1);
    setenv("EMPTY", "", 1);
    size_t before = count_of(environ);
    struct session_environment made;
    assert_int_equal(session_environment(&session, &made), 0);
    char invitation[80];
    snprintf(invitation, sizeof(invitation), "900:901:%d:abcdef0123:0000000000000000",
             (int)getpid());
    assert_string_equal(value_of(made.variables, SESSION_VARIABLE), invitation);
    assert_string_equal(value_of(made.variables, "LD_PRELOAD"), "/opt/librec-sampler.so");
    assert_int_equal(count_of(made.variables), before + 2);
    for (size_t i = 0; i < before; i++)
        assert_string_equal(made.variables[i], environ[i]);
    session_environment_free(&made);
    assert_null(made.variables);
}

static void another_preload_stays_behind_ours(void **state)
{
    (void)state;
    setenv("LD_PRELOAD", "/usr/lib/libjemalloc.so.2 libother.so", 1);
    struct session_environment made;
    assert_int_equal(session_environment(&session, &made), 0);
    assert_string_equal(value_of(made.variables, "LD_PRELOAD"),
                        "/opt/librec-sampler.so:/usr/lib/libjemalloc.so.2 libother.so");
    session_environment_free(&made);
    /* Ours is not left behind. */
    assert_string_equal(getenv("LD_PRELOAD"), "/usr/lib/libjemalloc.so.2 libother.so");
    unsetenv("LD_PRELOAD");
}

static void an_empty_preload_is_told_from_none(void **state)
{
    (void)state;
    setenv("LD_PRELOAD", "", 1);
    struct session_environment made;
    assert_int_equal(session_environment(&session, &made), 0);
    assert_string_equal(value_of(made.variables, "LD_PRELOAD"), "/opt/librec-sampler.so:");
    session_environment_free(&made);
    unsetenv("LD_PRELOAD");
}

/* A second sampler would join the recording, too. */
static void samplers_of_other_recordings_are_not_preloaded(void **state)
{
    static const char *const lists[][2] = {
        {"/old/librec-sampler.so", "/opt/librec-sampler.so"},
        {"/old/librec-sampler.so:", "/opt/librec-sampler.so"},
        {"/old/librec-sampler.so:/a.so", "/opt/librec-sampler.so:/a.so"},
        {"/a.so /old/librec-sampler.so b.so", "/opt/librec-sampler.so:/a.so b.so"},
        {"/x/librec-sampler.so:/y/librec-sampler.so", "/opt/librec-sampler.so"},
        {"/a.so:/librec-sampler.so.bak", "/opt/librec-sampler.so:/a.so:/librec-sampler.so.bak"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        setenv("LD_PRELOAD", lists[i][0], 1);
        struct session_environment made;
        assert_int_equal(session_environment(&session, &made), 0);
        assert_string_equal(value_of(made.variables, "LD_PRELOAD"), lists[i][1]);
        session_environment_free(&made);
    }
    unsetenv("LD_PRELOAD");
}

/* rec under rec: the inner one's invitation replaces the outer one's. */
static void an_older_invitation_is_replaced(void **state)
{
    (void)state;
    setenv(SESSION_VARIABLE, "3:4:5:6:0", 1);
    struct session_environment made;
    assert_int_equal(session_environment(&session, &made), 0);
    assert_memory_equal(value_of(made.variables, SESSION_VARIABLE), "900:901:", 8);
    session_environment_free(&made);
    unsetenv(SESSION_VARIABLE);
}

/* The oracle is the inode in the line of the linker in /proc/self/maps. */
static void the_own_linker_is_the_mapped_one(void **state)
{
    (void)state;
    char line[4400];
    struct session_linker linker = exec_target_own_linker();
    unsigned long long inode = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (inode == 0 && fgets(line, sizeof(line), maps))
        if (strstr(line, "/ld-linux"))
            assert_int_equal(sscanf(line, "%*s %*s %*s %*s %llu", &inode), 1);
    fclose(maps);
    assert_true(inode != 0);
    assert_int_equal(linker.inode, inode);
}

static void the_linker_of_a_program_is_found(void **state)
{
    (void)state;
    struct session_linker own = exec_target_own_linker();
    struct exec_target target = exec_target_inspect("/proc/self/exe", 0);
    assert_null(target.reason);
    assert_int_equal(target.linker.inode, own.inode);
    assert_int_equal(target.linker.device, own.device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_place_that_has_it_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_run_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_that_can_be_run_is_126_and_nothing_at_all_127,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_path_is_taken_as_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_place_is_the_working_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_path_the_usual_places_are_searched, set_up,
                                        tear_down),
        cmocka_unit_test(the_command_is_invited_and_its_environment_kept),
        cmocka_unit_test(samplers_of_other_recordings_are_not_preloaded),
        cmocka_unit_test(another_preload_stays_behind_ours),
        cmocka_unit_test(an_empty_preload_is_told_from_none),
        cmocka_unit_test(an_older_invitation_is_replaced),
        cmocka_unit_test(the_own_linker_is_the_mapped_one),
        cmocka_unit_test(the_linker_of_a_program_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

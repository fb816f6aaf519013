/* SPDX-License-Identifier: MIT */
/* The two variables in the environment of a new program, and in the program's own. */
#include "sampler/exec/environ.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLER "/proc/self/exe" /* reachable */
#define NAME "REC_SESSION=900:901:7:abc:"
#define NOTHING_FORBIDDEN NAME "0000000000000000"
#define ENTRIES_MAX 8
#define LIST(...) ((char *const[]){__VA_ARGS__, NULL})
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct process process;
__thread struct thread_state *thread_self;
static struct tables *tables;
static uint32_t wiped_by_fork[8];
uint32_t *process_alive = wiped_by_fork;
static char **environment_before;

bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page)
{
    (void)memory;
    (void)bytes;
    (void)known_page;
    return true;
}

static int set_up(void **state)
{
    (void)state;
    tables = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(tables, MAP_FAILED);
    process = (struct process){.tables = tables};
    strcpy(tables->header.session, NAME);
    strcpy(tables->header.preload, PRELOAD SAMPLER);
    environment_before = environ;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    environ = environment_before;
    return munmap(tables, sizeof(*tables));
}

static void assert_entries(char *const *found, char *const *expected)
{
    for (; *expected; expected++, found++) {
        assert_non_null(*found);
        assert_string_equal(*found, *expected);
    }
    assert_null(*found);
}

static void assert_injected(char *const *given, bool takes_variables, char *const *expected)
{
    size_t bytes = environ_bytes(given);
    assert_int_not_equal(bytes, 0);
    char **made = malloc(bytes); /* exact, for the address sanitizer */
    assert_entries(environ_into(made, given, takes_variables), expected);
    free(made);
}

static void missing_variables_are_added(void **state)
{
    (void)state;
    assert_injected(LIST("A=1"), true, LIST("A=1", "LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN));
    assert_injected(LIST(NULL), true, LIST("LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN));
    assert_injected(NULL, true, LIST("LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN));
    assert_injected(LIST("LD_PRELOAD=libm.so"), true,
                    LIST("LD_PRELOAD=" SAMPLER ":libm.so", NOTHING_FORBIDDEN));
    assert_injected(LIST("LD_PRELOAD="), true, LIST("LD_PRELOAD=" SAMPLER ":", NOTHING_FORBIDDEN));
}

static void present_variables_stay_once(void **state)
{
    (void)state;
    assert_injected(LIST("LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN, "Z=2"), true,
                    LIST("LD_PRELOAD=" SAMPLER, "Z=2", NOTHING_FORBIDDEN));
    assert_injected(LIST("LD_PRELOAD=a.so:" SAMPLER ":b.so", NOTHING_FORBIDDEN), true,
                    LIST("LD_PRELOAD=" SAMPLER ":a.so:b.so", NOTHING_FORBIDDEN));
}

static void a_new_program_gets_what_filters_forbid(void **state)
{
    (void)state;
    process.forbidden = UINT64_C(0x80000000000000fe);
    assert_injected(LIST(NOTHING_FORBIDDEN), true,
                    LIST("LD_PRELOAD=" SAMPLER, NAME "80000000000000fe"));
}

static void unwanted_variables_are_removed(void **state)
{
    (void)state;
    assert_injected(LIST("LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN, "Z=2"), false, LIST("Z=2"));
    assert_injected(LIST("LD_PRELOAD=" SAMPLER ":b.so"), false, LIST("LD_PRELOAD=b.so"));
    assert_injected(LIST("LD_PRELOAD=" SAMPLER ":"), false, LIST("LD_PRELOAD="));
    assert_injected(LIST("LD_PRELOAD=a.so:" SAMPLER), false, LIST("LD_PRELOAD=a.so"));
    assert_injected(LIST("LD_PRELOAD=a.so"), false, LIST("LD_PRELOAD=a.so"));
    assert_injected(LIST("LD_TRACE_LOADED_OBJECTS=1", "LD_PRELOAD=" SAMPLER), true,
                    LIST("LD_TRACE_LOADED_OBJECTS=1"));
}

static void the_environment_of_another_recording_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(environ_bytes(LIST("REC_SESSION=1:2:3:4:0")), 0);
    assert_true(environ_is_of_other(LIST("A=1", "REC_SESSION=1:2:3:4:0")));
    assert_false(environ_is_of_other(LIST("A=1")));
    assert_false(environ_is_of_other(NULL));
}

/* environ as the kernel has it: writable texts. */
static char **make_environ(char *const *entries)
{
    static char *made[ENTRIES_MAX];
    static char texts[ENTRIES_MAX][128];
    size_t i = 0;
    for (; entries[i]; i++) {
        strcpy(texts[i], entries[i]);
        made[i] = texts[i];
    }
    made[i] = NULL;
    return made;
}

static void assert_refreshed(char *const *given, char *const *expected)
{
    environ = make_environ(given);
    environ_refresh();
    assert_entries(environ, expected);
}

static void the_programs_own_variables_follow_its_filters(void **state)
{
    (void)state;
    process.forbidden = UINT64_C(1) << CALL_GETUID;
    char *const *stale = LIST("A=1", "LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN, "Z=2");
    environ = make_environ(stale);
    environ_refresh();
    assert_string_equal(environ[1], stale[1]);
    assert_int_equal(strtoull(environ[2] + strlen(NAME), NULL, 16), process.forbidden);
    assert_int_equal(strlen(environ[2]), strlen(NOTHING_FORBIDDEN));
    assert_string_equal(environ[3], "Z=2");
    /* Shortened by the program: there is no room for all digits. */
    assert_refreshed(LIST(NAME "0"), LIST(NAME "0"));
}

static void children_that_are_not_recorded_get_no_variables(void **state)
{
    (void)state;
    tables->header.no_inherit = 1;
    assert_refreshed(LIST("A=1", "LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN, "Z=2"),
                     LIST("A=1", "Z=2"));
    assert_refreshed(LIST("LD_PRELOAD=" SAMPLER ":b.so", NOTHING_FORBIDDEN),
                     LIST("LD_PRELOAD=b.so"));
    assert_refreshed(LIST("LD_PRELOAD=a.so:" SAMPLER ":b.so"), LIST("LD_PRELOAD=a.so:b.so"));
    assert_refreshed(LIST("LD_PRELOAD=a.so:" SAMPLER), LIST("LD_PRELOAD=a.so"));
    assert_refreshed(LIST("LD_PRELOAD=" SAMPLER ":"), LIST("LD_PRELOAD="));
    assert_refreshed(LIST("LD_PRELOAD=" SAMPLER, "REC_SESSION=1:2:3:4:0"),
                     LIST("LD_PRELOAD=" SAMPLER, "REC_SESSION=1:2:3:4:0"));
    environ = NULL;
    environ_refresh();
}

static void after_the_recording_children_get_no_variables(void **state)
{
    (void)state;
    tables->header.stop = 1;
    assert_refreshed(LIST("LD_PRELOAD=" SAMPLER, NOTHING_FORBIDDEN), LIST(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(missing_variables_are_added),
        TEST(present_variables_stay_once),
        TEST(a_new_program_gets_what_filters_forbid),
        TEST(unwanted_variables_are_removed),
        TEST(the_environment_of_another_recording_is_left_alone),
        TEST(the_programs_own_variables_follow_its_filters),
        TEST(children_that_are_not_recorded_get_no_variables),
        TEST(after_the_recording_children_get_no_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

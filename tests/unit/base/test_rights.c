/* SPDX-License-Identifier: MIT */
#include "base/files/rights.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const struct rights other = {
    .uid = 65534, .gid = 65533, .group_count = 2, .groups = {101, 102}};

/* Lines of the calling thread's status. */
static void read_status(char text[4096])
{
    FILE *file = fopen("/proc/thread-self/status", "r");
    assert_non_null(file);
    text[fread(text, 1, 4095, file)] = '\0';
    fclose(file);
}

static bool has_line(const char *text, const char *line)
{
    return strstr(text, line) != NULL;
}

/* CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: bits 1 and 2. */
static unsigned long long effective_capabilities(const char *text)
{
    unsigned long long set = 0;
    assert_int_equal(sscanf(strstr(text, "\nCapEff:"), "\nCapEff: %llx", &set), 1);
    return set;
}

static int set_group(void **state)
{
    (void)state;
    return geteuid() == 0 ? setgroups(1, (gid_t[]){77}) : 0;
}

static void a_loan_replaces_ids_groups_and_capabilities_over_files(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    char before[4096], during[4096], after[4096];
    struct rights_loan loan;
    read_status(before);
    assert_int_equal(rights_borrow(&loan, &other), 0);
    read_status(during);
    rights_return(&loan);
    read_status(after);
    assert_true(has_line(during, "Uid:\t0\t0\t0\t65534\n"));
    assert_true(has_line(during, "Gid:\t0\t0\t0\t65533\n"));
    assert_true(has_line(during, "Groups:\t101 102 \n"));
    assert_int_equal(effective_capabilities(during) & 6, 0);
    assert_int_equal(effective_capabilities(before) & 6, 6);
    assert_true(has_line(after, "Uid:\t0\t0\t0\t0\n") && has_line(after, "Gid:\t0\t0\t0\t0\n"));
    assert_true(has_line(after, "Groups:\t77 \n"));
    assert_true(effective_capabilities(after) == effective_capabilities(before));
}

static void a_process_stays_dumpable(void **state)
{
    (void)state;
    struct rights_loan loan;
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rights_borrow(&loan, &other), 0);
        rights_return(&loan);
    }
    assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
}

struct watcher { /* a thread that is there before the loan */
    pthread_barrier_t barrier;
    char text[4096];
};

static void *watch(void *argument)
{
    struct watcher *watcher = argument;
    pthread_barrier_wait(&watcher->barrier);
    read_status(watcher->text);
    return NULL;
}

static void other_threads_keep_their_rights(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    static struct watcher watcher;
    struct rights_loan loan;
    pthread_t thread;
    pthread_barrier_init(&watcher.barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
    assert_int_equal(rights_borrow(&loan, &other), 0);
    pthread_barrier_wait(&watcher.barrier);
    pthread_join(thread, NULL);
    rights_return(&loan);
    assert_true(has_line(watcher.text, "Uid:\t0\t0\t0\t0\n"));
    assert_true(has_line(watcher.text, "Groups:\t77 \n"));
}

static void own_rights_are_not_borrowed(void **state)
{
    (void)state;
    struct rights_loan loan;
    const struct rights root = {0};
    assert_int_equal(rights_borrow(&loan, NULL), 0);
    assert_false(loan.is_taken);
    assert_int_equal(rights_borrow(&loan, &root), 0);
    assert_false(loan.is_taken);
    rights_return(&loan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loan_replaces_ids_groups_and_capabilities_over_files),
        cmocka_unit_test(a_process_stays_dumpable),
        cmocka_unit_test(other_threads_keep_their_rights),
        cmocka_unit_test(own_rights_are_not_borrowed),
    };
    return cmocka_run_group_tests(tests, set_group, NULL);
}

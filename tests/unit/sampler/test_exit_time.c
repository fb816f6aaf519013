/* SPDX-License-Identifier: MIT */
/* The account that a thread notes is the kernel's, and only while off-CPU time is recorded. */
#include "sampler/process/exit_time.c"

#include "record/off_cpu/waits/off_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct process process;
uint32_t *process_alive;
__thread struct thread_state *thread_self;
static struct tables *tables;
static struct process_verdict verdict;
static uint32_t alive;
static struct off_notes notes;

uint64_t own_clock_ns(enum own_call clock)
{
    struct timespec now;
    assert_int_equal(clock, CALL_CLOCK);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool process_is_another(void)
{
    return false;
}

static int set_up(void **state)
{
    (void)state;
    struct requests *requests = calloc(1, sizeof(*requests));
    tables = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(tables, MAP_FAILED);
    tables->header.takes_accounts = 1;
    verdict = (struct process_verdict){.engine = ENGINE_TIMER};
    alive = 1;
    process_alive = &alive;
    process = (struct process){
        .tables = tables, .requests = requests, .verdict = &verdict, .engine = ENGINE_TIMER};
    notes.notes = requests->accounts;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    process.engine = ENGINE_NONE; /* for the destructor */
    free(process.requests);
    munmap(tables, sizeof(*tables));
    return 0;
}

static bool is_noted(struct run_account *account)
{
    account_note();
    return off_notes_read(&notes, gettid(), account);
}

static void a_thread_notes_its_account(void **state)
{
    (void)state;
    char text[128] = "";
    struct run_account account, read;
    uint64_t before_ns = own_clock_ns(CALL_CLOCK);
    usleep(1); /* another turn */
    int next_fd = dup(0);
    close(next_fd);
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_true(run_account_parse(&read, text));
    assert_true(is_noted(&account));
    assert_true(account.turns >= read.turns && read.turns > 0);
    assert_true(account.cpu_ns >= read.cpu_ns);
    assert_true(account.delay_ns >= read.delay_ns);
    assert_true(account.read_ns >= before_ns);
    assert_int_equal(dup(0), next_fd);
    close(next_fd);
}

static void nothing_is_noted_without_off_cpu_time(void **state)
{
    (void)state;
    struct run_account account;
    tables->header.takes_accounts = 0;
    assert_false(is_noted(&account));
    tables->header.takes_accounts = 1;
    verdict.namespace = 1; /* its ids are not the launcher's */
    assert_false(is_noted(&account));
    verdict.namespace = 0;
    alive = 0; /* forked, not joined */
    assert_false(is_noted(&account));
    alive = 1;
    process.forbidden = CALL_BIT(OPEN);
    assert_false(is_noted(&account));
    process.forbidden = 0;
    assert_true(is_noted(&account));
}

/* A read that fails leaves no older account. */
static void a_forbidden_read_leaves_no_note(void **state)
{
    (void)state;
    struct run_account account;
    assert_true(is_noted(&account));
    process.forbidden = CALL_BIT(READ_AT);
    assert_false(is_noted(&account));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_thread_notes_its_account),
        TEST(nothing_is_noted_without_off_cpu_time),
        TEST(a_forbidden_read_leaves_no_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Long lists of mappings of processes that may be in the dynamic linker take a limited part of rec's time. */
#include "record/process/untracked/untracked_processes.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SAMPLER \
    "/proc/self/exe" /* stands for the sampler: a file that every process of the test maps */
enum { MAPPINGS = 20000, PAGE_BYTES = 4096 };

/* Every other page is readable. */
static void map_many(void)
{
    char *pages = mmap(NULL, (size_t)MAPPINGS * PAGE_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    for (size_t i = 0; i < MAPPINGS; i += 2)
        assert_int_equal(mprotect(pages + i * PAGE_BYTES, PAGE_BYTES, PROT_READ), 0);
}

static pid_t start_process_with_many_mappings(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        map_many();
        (void)!write(ready[1], "r", 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void long_lists_of_mappings_are_read_in_a_part_of_the_time(void **state)
{
    (void)state;
    char program[512] = "";
    assert_true(readlink(SAMPLER, program, sizeof(program) - 1) > 0);
    const struct session session = {.sampler_path = program}, other = {.sampler_path = "/none"};
    struct round round = {.now_ns = monotonic_ns()};
    struct untracked_processes *untracked = calloc(1, sizeof(*untracked));
    assert_non_null(untracked);
    untracked->session = &session;
    untracked->round = &round;
    pid_t pid = start_process_with_many_mappings();
    assert_true(may_be_in_loader(untracked, pid));
    const uint64_t end_ns = monotonic_ns(), pause_ns = untracked->loader_due_ns - round.now_ns;
    assert_in_range(pause_ns, 10 * MAPPINGS * LOADER_PARTS,
                    (LOADER_PARTS + 1) * (end_ns - round.now_ns));
    untracked->session =
        &other; /* the next list that is read shows that the process is elsewhere */
    round.now_ns = untracked->loader_due_ns - 1;
    assert_true(may_be_in_loader(untracked, pid));
    round.now_ns = untracked->loader_due_ns;
    assert_false(may_be_in_loader(untracked, pid));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(untracked);
}

/* The figures of a look at a process of 10 000 threads, and at others behind it. */
static void lists_of_children_take_a_part_of_the_time(void **state)
{
    (void)state;
    struct children_share share = {0};
    uint64_t now_ns = monotonic_ns(), spent_ns = 0, lists = 0;
    const uint64_t begin_ns = now_ns, cost_ns = 50000000, step_ns = 10000000;
    for (; now_ns < begin_ns + UINT64_C(60000000000); now_ns += step_ns) {
        if (!may_list(&share, now_ns))
            continue;
        share.cost_ns += cost_ns;
        spent_ns += cost_ns;
        lists++;
    }
    assert_in_range(spent_ns, 50 * cost_ns, (now_ns - begin_ns) / CHILDREN_PARTS + 2 * cost_ns);
    share = (struct children_share){.at_ns = now_ns};
    for (int i = 0; i < 64; i++, share.cost_ns += 20000) /* usual processes, in a look */
        assert_true(may_list(&share, now_ns));
}

/* The process of the costly list does not come first again. */
static void processes_put_off_come_first(void **state)
{
    (void)state;
    struct round round = {.now_ns = monotonic_ns()};
    struct untracked_processes *untracked = calloc(1, sizeof(*untracked));
    assert_non_null(untracked);
    struct outside *outside = calloc(1, sizeof(*outside));
    struct process_table *processes = calloc(1, sizeof(*processes));
    assert_non_null(outside);
    assert_non_null(processes);
    untracked->round = &round;
    untracked->outside = outside;
    untracked->processes = processes;
    struct process recorded = {.pid = getpid(), .pid_fd = -1, .engine = ENGINE_NONE};
    struct process *process[3];
    for (size_t i = 0; i < 3; i++) {
        process[i] = process_table_add(processes, &recorded);
        process[i]->has_run = true;
    }
    untracked->of_recorded = (struct children_share){CHILDREN_BURST_NS - 1, round.now_ns, 1};
    look_at_processes(untracked); /* the first one, at 1, exceeds the share */
    assert_false(process[1]->has_run);
    assert_true(process[2]->has_run);
    assert_true(process[0]->has_run);
    assert_int_equal(untracked->of_recorded.next, 2);
    free(processes);
    free(outside);
    free(untracked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_children_take_a_part_of_the_time),
        cmocka_unit_test(processes_put_off_come_first),
        cmocka_unit_test(long_lists_of_mappings_are_read_in_a_part_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

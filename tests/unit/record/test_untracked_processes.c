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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lists_of_mappings_are_read_in_a_part_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

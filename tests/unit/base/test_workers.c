/* SPDX-License-Identifier: MIT */
/* Jobs in processes of their own: whatever one of them does, the others' answers arrive. */
#include "base/sandbox/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_JOBS = 40 };

struct outcomes {
    void (*jobs[MOST_JOBS])(struct buffer *out);
    char answers[MOST_JOBS][64];
    size_t answer_bytes[MOST_JOBS];
    const char *troubles[MOST_JOBS];
    size_t ended;
    int release_fd; /* written to while jobs run; 0: nobody waits */
    bool keeps;     /* descriptors 200 and 205 */
    const int *kept;
    size_t kept_count;
    bool kills;           /* the first that there is, while jobs run */
    size_t left_out_from; /* the first job to be left out; 0: none */
};

/* Made by main(). */
static const char *fifo_path(void)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof(path), "/tmp/rec-workers-%d", (int)getpid());
    return path;
}

static void run_job(void *context, size_t job, struct buffer *out)
{
    ((struct outcomes *)context)->jobs[job](out);
}

static void note_answer(void *context, size_t job, const struct buffer *answer)
{
    struct outcomes *outcomes = context;
    snprintf(outcomes->answers[job], sizeof(outcomes->answers[job]), "%.*s", (int)answer->size,
             answer->size ? (const char *)answer->bytes : "");
    outcomes->answer_bytes[job] = answer->size;
    outcomes->ended++;
}

static void note_trouble(void *context, size_t job, const char *why)
{
    struct outcomes *outcomes = context;
    outcomes->troubles[job] = why;
    outcomes->ended++;
}

/* As the kernel does when there is no memory left. */
static void kill_first_child(void)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

static void release(struct outcomes *outcomes)
{
    if (outcomes->kills)
        kill_first_child();
    assert_int_equal(outcomes->ended, 0);
    if (outcomes->release_fd)
        assert_int_equal(write(outcomes->release_fd, "x", 1), 1);
}

static bool is_left_out(void *context, size_t job)
{
    struct outcomes *outcomes = context;
    bool is = job >= outcomes->left_out_from;
    outcomes->ended += is;
    return is;
}

static void run_all(struct outcomes *outcomes)
{
    struct workers workers = {.run = run_job,
                              .done = note_answer,
                              .failed = note_trouble,
                              .is_left_out = outcomes->left_out_from ? is_left_out : NULL,
                              .context = outcomes,
                              .limits = {.memory_bytes = 64 << 20, .cpu_s = 1},
                              .wall_s = 2,
                              .answer_limit_bytes = 1 << 20};
    static const int kept[] = {200, 205};
    if (outcomes->keeps)
        workers.fds = (struct worker_fds){.kept = kept, .kept_count = 2};
    if (outcomes->kept)
        workers.fds =
            (struct worker_fds){.kept = outcomes->kept, .kept_count = outcomes->kept_count};
    while (workers.job_count < MOST_JOBS && outcomes->jobs[workers.job_count])
        workers.job_count++;
    struct worker_pool pool;
    workers_start(&pool, &workers);
    release(outcomes);
    workers_finish(&pool);
    workers_reap(&pool);
    assert_int_equal(outcomes->ended, workers.job_count);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
    assert_int_equal(errno, ECHILD);
}

static void answers(struct buffer *out)
{
    buffer_text(out, "an answer");
}

static void crashes(struct buffer *out)
{
    buffer_text(out, "half");
    __builtin_trap(); /* not by a bad address: sanitizers end tidily after one */
}

static void leaves(struct buffer *out)
{
    buffer_text(out, "half");
    _exit(0);
}

static void spins(struct buffer *out)
{
    (void)out;
    for (volatile bool forever = true; forever;)
        ;
}

static void sleeps(struct buffer *out)
{
    (void)out;
    int unheld = 0;
    /* Nothing that waits is allowed but reading: from a FIFO that no process writes to. */
    int fd = open(fifo_path(), O_RDONLY);
    (void)!read(fd, &unheld, sizeof(unheld));
    spins(out);
}

static void explodes(struct buffer *out)
{
    for (;;) {
        char *bytes = malloc(1 << 20);
        if (!bytes) {
            out->failed = true;
            return;
        }
        memset(bytes, 1, 1 << 20);
    }
}

static void talks_too_much(struct buffer *out)
{
    buffer_zeros(out, 4 << 20);
}

static void one_bad_job_costs_its_own_answer(void **state)
{
    (void)state;
    struct outcomes outcomes = {
        .jobs = {answers, crashes, answers, spins, explodes, answers, talks_too_much, leaves}};
    run_all(&outcomes);
    for (size_t i = 0; i < 8; i++)
        if (outcomes.jobs[i] == answers)
            assert_string_equal(outcomes.answers[i], "an answer");
        else
            assert_non_null(outcomes.troubles[i]);
    assert_string_equal(outcomes.troubles[1], "crashed");
    assert_string_equal(outcomes.troubles[3], "took too long");
#ifndef __SANITIZE_ADDRESS__ /* its allocator has reserved all address space before there is a limit */
    assert_string_equal(outcomes.troubles[4], "ran out of memory");
#endif
    assert_string_equal(outcomes.troubles[6], "exceeded the size limit of its result");
    assert_string_equal(outcomes.troubles[7], "crashed");
}

/* As in a worker that an input has taken over. */
static void answers_and_sleeps(struct buffer *out)
{
    buffer_text(out, "an answer");
    buffer_u64(out, out->size);
    (void)!write(CONFINE_ANSWER_FD, out->bytes, out->size);
    close(CONFINE_ANSWER_FD);
    sleeps(out);
}

static void leaves_and_sleeps(struct buffer *out)
{
    close(CONFINE_ANSWER_FD);
    sleeps(out);
}

static void a_job_that_waits_for_ever_is_ended(void **state)
{
    (void)state;
    struct outcomes outcomes = {
        .jobs = {sleeps, answers, answers_and_sleeps, leaves_and_sleeps, answers}};
    run_all(&outcomes);
    assert_string_equal(outcomes.troubles[0], "took too long");
    assert_string_equal(outcomes.answers[1], "an answer");
    assert_string_equal(outcomes.answers[2], "an answer");
    assert_non_null(outcomes.troubles[3]);
    assert_string_equal(outcomes.answers[4], "an answer");
}

static void spins_in_a_library(struct buffer *out)
{
    worker_end_after(100000000);
    spins(out);
}

static void returns_from_a_library(struct buffer *out)
{
    struct itimerval left;
    worker_end_after(100000000);
    worker_end_after(0);
    buffer_text(out, setitimer(ITIMER_PROF, &(struct itimerval){{0}, {0}}, &left) == 0 &&
                             left.it_value.tv_sec + left.it_value.tv_usec == 0
                         ? "no limit"
                         : "a limit");
}

/* The limit of CPU time of the worker is ten times as long. */
static void a_call_that_never_returns_ends_the_job(void **state)
{
    (void)state;
    struct rusage before, after;
    struct outcomes outcomes = {.jobs = {spins_in_a_library, returns_from_a_library}};
    getrusage(RUSAGE_CHILDREN, &before);
    run_all(&outcomes);
    getrusage(RUSAGE_CHILDREN, &after);
    assert_string_equal(outcomes.troubles[0], "took too long");
    assert_string_equal(outcomes.answers[1], "no limit");
    double used_s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                    (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
    assert_true(used_s < 0.5);
    worker_end_after(1000); /* no worker */
    for (volatile int i = 0; i < 10000000; i++)
        ;
}

static void a_job_that_somebody_kills_did_not_take_too_long(void **state)
{
    (void)state;
    struct outcomes outcomes = {.jobs = {spins, answers}, .kills = true};
    run_all(&outcomes);
    assert_string_equal(outcomes.troubles[0], "was killed, possibly for lack of memory");
    assert_string_equal(outcomes.answers[1], "an answer");
}

static void waits_to_be_released(struct buffer *out)
{
    char byte;
    int fd = open(fifo_path(), O_RDONLY);
    if (fd >= 0 && read(fd, &byte, 1) == 1)
        buffer_text(out, "released");
}

/* The caller has work of its own, which would else be done before or after. */
static void the_caller_works_while_jobs_run(void **state)
{
    (void)state;
    int fifo = open(fifo_path(), O_RDWR);
    assert_true(fifo >= 0);
    struct outcomes outcomes = {.jobs = {waits_to_be_released}, .release_fd = fifo};
    run_all(&outcomes);
    close(fifo);
    assert_string_equal(outcomes.answers[0], "released");
}

static void more_jobs_than_processors(void **state)
{
    (void)state;
    struct outcomes outcomes = {0};
    for (size_t i = 0; i < MOST_JOBS - 1; i++)
        outcomes.jobs[i] = i % 5 == 3 ? crashes : answers;
    run_all(&outcomes);
    for (size_t i = 0; i < MOST_JOBS - 1; i++)
        assert_string_equal(outcomes.answers[i], i % 5 == 3 ? "" : "an answer");
}

static void says_much(struct buffer *out)
{
    buffer_text(out, "much");
    buffer_zeros(out, 900000 - out->size);
}

static void says_nothing(struct buffer *out)
{
    (void)out;
}

static void answers_of_any_size_are_what_was_said(void **state)
{
    (void)state;
    struct outcomes outcomes = {.jobs = {says_much, says_nothing, answers}};
    run_all(&outcomes);
    const size_t bytes[] = {900000, 0, strlen("an answer")};
    for (size_t i = 0; i < 3; i++) {
        assert_null(outcomes.troubles[i]);
        assert_int_equal(outcomes.answer_bytes[i], bytes[i]);
    }
    assert_string_equal(outcomes.answers[0], "much");
}

/* What it is confined from: test_confine.c. */
static void tries_to_write(struct buffer *out)
{
    bool is_confined = open("/tmp/rec-confined", O_WRONLY | O_CREAT, 0600) < 0 && errno == EPERM &&
                       write(2, "x", 1) < 0 && errno == EPERM && fork() < 0 && errno == EPERM;
    buffer_text(out, is_confined ? "confined" : "free");
}

static bool is_null(int fd)
{
    struct stat status, null;
    return stat("/dev/null", &null) == 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == null.st_rdev;
}

static void sees_descriptors(struct buffer *out)
{
    char byte;
    bool kept = pread(200, &byte, 1, 0) == 1 && pread(205, &byte, 1, 0) == 1;
    for (int fd = CONFINE_RULES_FD; fd < 300; fd++)
        if (fd != 200 && fd != 205 && (pread(fd, &byte, 1, 0) >= 0 || errno != EBADF))
            kept = false;
    buffer_text(out, !kept                                    ? "others"
                     : is_null(0) && is_null(1) && is_null(2) ? "its own"
                                                              : "ours");
}

static void a_job_has_its_answer_and_what_it_was_given(void **state)
{
    (void)state;
    int fd = open("/proc/self/exe", O_RDONLY);
    const int copies[] = {4, 5, 100, 200, 201, 205, 206};
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
        assert_true(fd == copies[i] || dup2(fd, copies[i]) == copies[i]);
    struct outcomes outcomes = {.jobs = {tries_to_write, sees_descriptors}, .keeps = true};
    run_all(&outcomes);
    assert_string_equal(outcomes.answers[0], "confined");
    assert_string_equal(outcomes.answers[1], "its own");
    close_range(3, 300, 0);
}

/* These numbers are taken by the pipe of the result and by the rules. */
static void kept_descriptors_below_5_or_out_of_order_are_refused(void **state)
{
    (void)state;
    static const int lists[][2] = {{3, 200}, {4, 200}, {200, 100}, {200, 200}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct outcomes outcomes = {.jobs = {answers}, .kept = lists[i], .kept_count = 2};
        run_all(&outcomes);
        assert_non_null(outcomes.troubles[0]);
        assert_non_null(strstr(outcomes.troubles[0], "could not be confined"));
    }
}

static void jobs_that_are_left_out_end_nothing(void **state)
{
    (void)state;
    struct outcomes outcomes = {.left_out_from = 7};
    for (size_t i = 0; i < MOST_JOBS; i++)
        outcomes.jobs[i] = answers;
    run_all(&outcomes);
    for (size_t i = 0; i < MOST_JOBS; i++) {
        assert_int_equal(outcomes.answer_bytes[i] != 0, i < 7);
        assert_null(outcomes.troubles[i]);
    }
}

/* Then the answer's pipe takes the numbers of the standard streams. */
static void a_process_without_standard_streams_has_workers(void **state)
{
    (void)state;
    int saved[3];
    struct outcomes outcomes = {.jobs = {answers, says_much, tries_to_write}};
    for (int fd = 0; fd < 3; fd++)
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    close_range(0, 2, 0);
    run_all(&outcomes);
    for (int fd = 0; fd < 3; fd++)
        dup2(saved[fd], fd);
    close_range(100, 110, 0);
    assert_string_equal(outcomes.answers[0], "an answer");
    assert_int_equal(outcomes.answer_bytes[1], 900000);
    assert_string_equal(outcomes.answers[2], "confined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bad_job_costs_its_own_answer),
        cmocka_unit_test(a_job_that_waits_for_ever_is_ended),
        cmocka_unit_test(a_call_that_never_returns_ends_the_job),
        cmocka_unit_test(a_job_that_somebody_kills_did_not_take_too_long),
        cmocka_unit_test(the_caller_works_while_jobs_run),
        cmocka_unit_test(more_jobs_than_processors),
        cmocka_unit_test(answers_of_any_size_are_what_was_said),
        cmocka_unit_test(a_job_has_its_answer_and_what_it_was_given),
        cmocka_unit_test(kept_descriptors_below_5_or_out_of_order_are_refused),
        cmocka_unit_test(jobs_that_are_left_out_end_nothing),
        cmocka_unit_test(a_process_without_standard_streams_has_workers),
    };
    if (mkfifo(fifo_path(), 0600) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(fifo_path());
    return failed;
}

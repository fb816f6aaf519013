/* SPDX-License-Identifier: MIT */
/* Jobs in processes of their own: whatever one of them does, the others' answers arrive. */
#include "base/workers.h"

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
#include <sys/mman.h>
#include <sys/socket.h>
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
    unsigned meanwhile_calls;
    bool kills; /* the first that there is, while jobs run */
};

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

static void release(void *context)
{
    struct outcomes *outcomes = context;
    if (outcomes->kills)
        kill_first_child();
    assert_int_equal(outcomes->ended, 0);
    outcomes->meanwhile_calls++;
    if (outcomes->release_fd)
        assert_int_equal(write(outcomes->release_fd, "x", 1), 1);
}

static void run_all(struct outcomes *outcomes)
{
    struct workers workers = {.run = run_job,
                              .done = note_answer,
                              .failed = note_trouble,
                              .meanwhile = release,
                              .context = outcomes,
                              .limits = {.memory_bytes = 64 << 20, .cpu_s = 1},
                              .wall_s = 2,
                              .answer_limit_bytes = 1 << 20};
    while (workers.job_count < MOST_JOBS && outcomes->jobs[workers.job_count])
        workers.job_count++;
    workers_run(&workers);
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
    /* Nothing that waits is allowed but reading: from a pipe that nobody writes. */
    int fd = open("/proc/self/fd/0", O_RDONLY);
    for (;;)
        if (fd < 0 || read(fd, &unheld, sizeof(unheld)) <= 0)
            break;
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
    assert_string_equal(outcomes.troubles[6], "found too much");
    assert_string_equal(outcomes.troubles[7], "crashed");
}

static void a_job_that_waits_for_ever_is_ended(void **state)
{
    (void)state;
    int ends[2], saved = dup(0);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], 0);
    struct outcomes outcomes = {.jobs = {sleeps, answers}};
    run_all(&outcomes);
    dup2(saved, 0);
    assert_string_equal(outcomes.troubles[0], "took too long");
    assert_string_equal(outcomes.answers[1], "an answer");
}

static void a_job_that_somebody_kills_did_not_take_too_long(void **state)
{
    (void)state;
    struct outcomes outcomes = {.jobs = {spins, answers}, .kills = true};
    run_all(&outcomes);
    assert_string_equal(outcomes.troubles[0], "was ended from outside, perhaps for want of memory");
    assert_string_equal(outcomes.answers[1], "an answer");
}

static void waits_to_be_released(struct buffer *out)
{
    char byte;
    int fd = open("/proc/self/fd/0", O_RDONLY);
    if (fd >= 0 && read(fd, &byte, 1) == 1)
        buffer_text(out, "released");
}

/* The caller has work of its own, which would else be done before or after. */
static void the_caller_works_while_jobs_run(void **state)
{
    (void)state;
    int ends[2], saved = dup(0);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], 0);
    struct outcomes outcomes = {.jobs = {waits_to_be_released}, .release_fd = ends[1]};
    run_all(&outcomes);
    dup2(saved, 0);
    assert_int_equal(outcomes.meanwhile_calls, 1);
    assert_string_equal(outcomes.answers[0], "released");
    struct outcomes none = {0};
    run_all(&none);
    assert_int_equal(none.meanwhile_calls, 1);
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

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

static void tries_what_is_forbidden(struct buffer *out)
{
    char byte;
    int file = open("/proc/self/status", O_RDONLY);
    bool may_read = file >= 0 && read(file, &byte, 1) == 1;
    bool is_confined = is_refused(open("/tmp/rec-confined", O_WRONLY | O_CREAT, 0600)) &&
                       is_refused(open("/dev/null", O_RDWR)) && is_refused(write(2, "x", 1)) &&
                       is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) && is_refused(fork()) &&
                       is_refused(execl("/bin/true", "true", NULL)) &&
                       is_refused(unlink("/tmp/rec-confined")) && is_refused(kill(getpid(), 0)) &&
                       mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
    buffer_text(out, !may_read ? "cannot read" : is_confined ? "confined" : "free");
}

static void sees_foreign_descriptor(struct buffer *out)
{
    char byte;
    buffer_text(out, pread(200, &byte, 1, 0) < 0 && errno == EBADF ? "closed" : "open");
}

static void a_job_can_read_and_nothing_else(void **state)
{
    (void)state;
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(dup2(fd, 200), 200);
    struct outcomes outcomes = {.jobs = {tries_what_is_forbidden, sees_foreign_descriptor}};
    run_all(&outcomes);
    assert_string_equal(outcomes.answers[0], "confined");
    assert_string_equal(outcomes.answers[1], "closed");
    close(200);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bad_job_costs_its_own_answer),
        cmocka_unit_test(a_job_that_waits_for_ever_is_ended),
        cmocka_unit_test(a_job_that_somebody_kills_did_not_take_too_long),
        cmocka_unit_test(the_caller_works_while_jobs_run),
        cmocka_unit_test(more_jobs_than_processors),
        cmocka_unit_test(answers_of_any_size_are_what_was_said),
        cmocka_unit_test(a_job_can_read_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

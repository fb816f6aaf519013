/* SPDX-License-Identifier: MIT */
/* A worker that is told what to do while its parent goes on: what it was told is answered, or nothing is. */
#include "base/sandbox/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MESSAGES = 2000 };

struct told {
    uint64_t sum;
    volatile bool *may_go_on; /* shared with the parent; NULL: at once */
};

static void add(void *context, const void *message, size_t size)
{
    struct told *told = context;
    uint64_t number;
    while (told->may_go_on && !*told->may_go_on)
        ;
    if (size < sizeof(number))
        return;
    memcpy(&number, message, sizeof(number));
    told->sum += number;
}

static void answer_sum(void *context, struct buffer *answer)
{
    buffer_u64(answer, ((struct told *)context)->sum);
}

static void answer_much(void *context, struct buffer *answer)
{
    (void)context;
    buffer_zeros(answer, 900000);
}

static void crash(void *context, const void *message, size_t size)
{
    (void)context;
    (void)message;
    (void)size;
    __builtin_trap(); /* not by a bad address: sanitizers end tidily after one */
}

static void leave(void *context, struct buffer *answer)
{
    (void)context;
    (void)answer;
    _exit(0);
}

static void spin(void *context, struct buffer *answer)
{
    (void)context;
    (void)answer;
    for (volatile bool forever = true; forever;)
        ;
}

static void try_to_write(void *context, struct buffer *answer)
{
    (void)context;
    bool is_refused =
        open("/tmp/rec-confined", O_WRONLY | O_CREAT, 0600) < 0 && errno == EPERM && fork() < 0;
    buffer_u8(answer, is_refused);
}

static struct subprocess start(void (*take)(void *, const void *, size_t),
                               void (*finish)(void *, struct buffer *), struct told *told)
{
    struct subprocess worker;
    const struct subprocess_work work = {.take = take,
                                         .finish = finish,
                                         .context = told,
                                         .limits = {.memory_bytes = 64 << 20, .cpu_s = 10},
                                         .wall_s = 1,
                                         .answer_limit_bytes = 1 << 20};
    subprocess_start(&worker, &work);
    assert_true(worker.pid > 0);
    return worker;
}

static void end(struct subprocess *worker, struct buffer *answer)
{
    buffer_free(answer);
    subprocess_stop(worker);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
    assert_int_equal(errno, ECHILD);
}

static void tell_or_await(struct subprocess *worker, const void *message, size_t size)
{
    while (!subprocess_send(worker, message, size) && worker->pid)
        subprocess_wait_writable(worker);
}

static void all_that_was_told_is_answered(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(add, answer_sum, &told);
    for (uint64_t i = 1; i <= MESSAGES; i++)
        tell_or_await(&worker, &i, sizeof(i));
    subprocess_end_input(&worker);
    assert_true(subprocess_receive(&worker, &answer));
    uint64_t sum;
    assert_int_equal(answer.size, sizeof(sum));
    memcpy(&sum, answer.bytes, sizeof(sum));
    assert_int_equal(sum, MESSAGES * (MESSAGES + 1) / 2);
    end(&worker, &answer);
}

static void one_that_is_behind_is_not_waited_for(void **state)
{
    (void)state;
    bool *may_go_on =
        mmap(NULL, sizeof(*may_go_on), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(may_go_on, MAP_FAILED);
    uint8_t message[SUBPROCESS_MESSAGE_BYTES] = {1};
    struct told told = {.may_go_on = may_go_on};
    struct buffer answer = {0};
    struct subprocess worker = start(add, answer_sum, &told);
    uint64_t taken = 0;
    while (subprocess_send(&worker, message, sizeof(message)))
        taken++;
    assert_true(worker.pid > 0);
    *may_go_on = true;
    tell_or_await(&worker, message, sizeof(message));
    subprocess_end_input(&worker);
    assert_true(subprocess_receive(&worker, &answer));
    assert_int_equal(answer.bytes[0] | answer.bytes[1] << 8, taken + 1);
    end(&worker, &answer);
    munmap(may_go_on, sizeof(*may_go_on));
}

static void long_answers_arrive(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(add, answer_much, &told);
    subprocess_end_input(&worker);
    assert_true(subprocess_receive(&worker, &answer));
    assert_int_equal(answer.size, 900000);
    end(&worker, &answer);
}

static void one_that_crashes_has_no_answer(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(crash, answer_sum, &told);
    for (size_t i = 0; i < MESSAGES && worker.pid; i++)
        tell_or_await(&worker, "12345678", 8);
    subprocess_end_input(&worker);
    assert_false(subprocess_receive(&worker, &answer));
    end(&worker, &answer);
}

static void one_that_leaves_has_no_answer(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(add, leave, &told);
    subprocess_end_input(&worker);
    assert_false(subprocess_receive(&worker, &answer));
    end(&worker, &answer);
}

static void one_that_hangs_is_ended(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(add, spin, &told);
    subprocess_end_input(&worker);
    assert_false(subprocess_receive(&worker, &answer));
    end(&worker, &answer);
}

static void one_that_takes_nothing_is_ended(void **state)
{
    (void)state;
    bool never = false;
    uint8_t message[SUBPROCESS_MESSAGE_BYTES] = {0};
    struct told told = {.may_go_on = &never};
    struct buffer answer = {0};
    struct subprocess worker = start(add, answer_sum, &told);
    for (size_t i = 0; i < MESSAGES && worker.pid; i++)
        tell_or_await(&worker, message, sizeof(message));
    assert_int_equal(worker.pid, 0);
    assert_false(subprocess_receive(&worker, &answer));
    end(&worker, &answer);
}

static void it_is_confined(void **state)
{
    (void)state;
    struct told told = {0};
    struct buffer answer = {0};
    struct subprocess worker = start(add, try_to_write, &told);
    subprocess_end_input(&worker);
    assert_true(subprocess_receive(&worker, &answer));
    assert_int_equal(answer.size, 1);
    assert_true(answer.bytes[0]);
    end(&worker, &answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_was_told_is_answered),
        cmocka_unit_test(one_that_is_behind_is_not_waited_for),
        cmocka_unit_test(long_answers_arrive),
        cmocka_unit_test(one_that_crashes_has_no_answer),
        cmocka_unit_test(one_that_leaves_has_no_answer),
        cmocka_unit_test(one_that_hangs_is_ended),
        cmocka_unit_test(one_that_takes_nothing_is_ended),
        cmocka_unit_test(it_is_confined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

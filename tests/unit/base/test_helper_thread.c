/* SPDX-License-Identifier: MIT */
#include "base/helper_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 300, PIECES = 5, FEW = 2 };

struct round {
    _Atomic size_t left;
    int times[PIECES];
    pid_t threads[PIECES];
};

/* Some take so long that who waits for them sleeps. */
static void note(void *context, uint64_t piece)
{
    struct round *round = (struct round *)context + piece / PIECES;
    usleep(piece % 37 == 36 ? 2000 : 0);
    round->times[piece % PIECES]++;
    round->threads[piece % PIECES] = gettid();
    round->left--;
}

static void assert_done_once(const struct round *round)
{
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(round->times[i], 1);
}

static void give_and_wait(struct helper_thread *helper, struct round *round)
{
    round->left = PIECES;
    helper_thread_submit(helper, PIECES, FEW);
    helper_thread_wait(helper, &round->left);
    assert_done_once(round);
}

static void each_piece_is_done_once_and_seen_after_the_wait(void **state)
{
    (void)state;
    static struct round rounds[ROUNDS];
    struct helper_thread helper = {.run = note, .context = rounds};
    helper_thread_start(&helper);
    for (int i = 0; i < ROUNDS; i++) {
        usleep(i % 10 == 0 ? 1000 : 0);
        give_and_wait(&helper, &rounds[i]);
    }
    helper_thread_stop(&helper);
}

static void without_a_thread_all_is_done_by_waiting(void **state)
{
    (void)state;
    struct round rounds[2] = {0};
    struct helper_thread helper = {.run = note, .context = rounds};
    give_and_wait(&helper, &rounds[0]);
    give_and_wait(&helper, &rounds[1]);
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(rounds[1].threads[i], gettid());
    helper_thread_stop(&helper);
}

static void wait_for_a_minute_until_none_is_left(const struct round *round)
{
    for (int ms = 0; round->left && ms < 60000; ms++)
        usleep(1000);
    assert_int_equal(round->left, 0);
}

static void a_thread_that_sleeps_is_woken_for_more_than_few(void **state)
{
    (void)state;
    struct round round = {.left = PIECES};
    struct helper_thread helper = {.run = note, .context = &round};
    helper_thread_start(&helper);
    for (int ms = 0; !helper.is_asleep && ms < 60000; ms++)
        usleep(1000);
    helper_thread_submit(&helper, FEW, FEW);
    assert_int_equal(helper.begun, 0);
    helper_thread_submit(&helper, PIECES - FEW, FEW);
    wait_for_a_minute_until_none_is_left(&round);
    assert_done_once(&round);
    for (int i = 0; i < PIECES; i++)
        assert_int_not_equal(round.threads[i], gettid());
    helper_thread_stop(&helper);
}

static void what_is_taken_is_done_by_nobody(void **state)
{
    (void)state;
    uint64_t piece, taken = 0;
    struct round round = {.left = PIECES};
    struct helper_thread helper = {.run = note, .context = &round};
    helper_thread_start(&helper);
    helper_thread_submit(&helper, PIECES, 0);
    for (; helper_thread_claim(&helper, &piece); taken++)
        round.left--;
    helper_thread_wait(&helper, &round.left);
    int done = 0;
    for (int i = 0; i < PIECES; i++)
        done += round.times[i];
    assert_int_equal(done + (int)taken, PIECES);
    helper_thread_stop(&helper);
}

static void it_can_begin_again(void **state)
{
    (void)state;
    struct round round;
    struct helper_thread helper = {.run = note, .context = &round};
    helper_thread_stop(&helper);
    for (int i = 0; i < 3; i++) {
        memset(&round, 0, sizeof(round));
        helper_thread_start(&helper);
        give_and_wait(&helper, &round);
        helper_thread_submit(&helper, PIECES, PIECES);
        helper_thread_stop(&helper);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_is_done_once_and_seen_after_the_wait),
        cmocka_unit_test(without_a_thread_all_is_done_by_waiting),
        cmocka_unit_test(a_thread_that_sleeps_is_woken_for_more_than_few),
        cmocka_unit_test(what_is_taken_is_done_by_nobody),
        cmocka_unit_test(it_can_begin_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "base/aside.h"

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

static void give_and_wait(struct aside *aside, struct round *round)
{
    round->left = PIECES;
    aside_give(aside, PIECES, FEW);
    aside_wait(aside, &round->left);
    assert_done_once(round);
}

static void each_piece_is_done_once_and_seen_after_the_wait(void **state)
{
    (void)state;
    static struct round rounds[ROUNDS];
    struct aside aside = {.run = note, .context = rounds};
    aside_start(&aside);
    for (int i = 0; i < ROUNDS; i++) {
        usleep(i % 10 == 0 ? 1000 : 0);
        give_and_wait(&aside, &rounds[i]);
    }
    aside_stop(&aside);
}

static void without_a_thread_all_is_done_by_waiting(void **state)
{
    (void)state;
    struct round rounds[2] = {0};
    struct aside aside = {.run = note, .context = rounds};
    give_and_wait(&aside, &rounds[0]);
    give_and_wait(&aside, &rounds[1]);
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(rounds[1].threads[i], gettid());
    aside_stop(&aside);
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
    struct aside aside = {.run = note, .context = &round};
    aside_start(&aside);
    for (int ms = 0; !aside.is_asleep && ms < 60000; ms++)
        usleep(1000);
    aside_give(&aside, FEW, FEW);
    assert_int_equal(aside.begun, 0);
    aside_give(&aside, PIECES - FEW, FEW);
    wait_for_a_minute_until_none_is_left(&round);
    assert_done_once(&round);
    for (int i = 0; i < PIECES; i++)
        assert_int_not_equal(round.threads[i], gettid());
    aside_stop(&aside);
}

static void what_is_taken_is_done_by_nobody(void **state)
{
    (void)state;
    uint64_t piece, taken = 0;
    struct round round = {.left = PIECES};
    struct aside aside = {.run = note, .context = &round};
    aside_start(&aside);
    aside_give(&aside, PIECES, 0);
    for (; aside_take(&aside, &piece); taken++)
        round.left--;
    aside_wait(&aside, &round.left);
    int done = 0;
    for (int i = 0; i < PIECES; i++)
        done += round.times[i];
    assert_int_equal(done + (int)taken, PIECES);
    aside_stop(&aside);
}

static void it_can_begin_again(void **state)
{
    (void)state;
    struct round round;
    struct aside aside = {.run = note, .context = &round};
    aside_stop(&aside);
    for (int i = 0; i < 3; i++) {
        memset(&round, 0, sizeof(round));
        aside_start(&aside);
        give_and_wait(&aside, &round);
        aside_give(&aside, PIECES, PIECES);
        aside_stop(&aside);
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

/* SPDX-License-Identifier: MIT */
/* The time of debug info, and the end of a worker whose library call outlives this time. */
#include "symbols/dwarf/reading_clock.h"

#include "base/clock.h"
#include "base/sandbox/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

static double left_s(void)
{
    struct itimerval left = {{0}, {0}};
    setitimer(ITIMER_PROF, &(struct itimerval){{0}, {0}}, &left);
    return (double)left.it_value.tv_sec + (double)left.it_value.tv_usec / 1e6;
}

/* 100 MiB have 6 s, and half a second is left of the reserve. */
static void read_file(void *context, size_t job, struct buffer *out)
{
    struct reading_clock clock = reading_clock_for(100 << 20, 500000000);
    (void)context;
    (void)job;
    if (!reading_clock_begin(&clock))
        return;
    double during_s = left_s(); /* takes the limit away */
    reading_clock_end(&clock);
    if (!reading_clock_begin(&clock))
        return;
    reading_clock_end(&clock);
    /* 6 s for the size, the reserve, and 5 s for a call; builds with sanitizers have more. */
    bool is_limited =
        during_s > 6.5 * CPU_TIME_FACTOR && during_s < 11.6 * CPU_TIME_FACTOR && left_s() == 0;
    buffer_text(out, is_limited && !clock.is_over ? "limited" : "unlimited");
}

static void note(void *context, size_t job, const struct buffer *answer)
{
    (void)job;
    snprintf(context, 16, "%.*s", (int)answer->size, (const char *)answer->bytes);
}

static void fail_job(void *context, size_t job, const char *why)
{
    (void)job;
    snprintf(context, 16, "%s", why);
}

static void a_worker_ends_soon_after_the_time_of_a_file(void **state)
{
    (void)state;
    char result[16] = "";
    struct workers workers = {
        .job_count = 1, .run = read_file, .done = note, .failed = fail_job, .context = result};
    workers_set_limits(&workers);
    workers_run(&workers);
    assert_string_equal(result, "limited");
}

static void the_process_itself_has_no_such_end(void **state)
{
    (void)state;
    struct reading_clock clock = reading_clock_for(0, 0);
    assert_true(reading_clock_begin(&clock));
    assert_true(left_s() == 0);
    reading_clock_end(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_ends_soon_after_the_time_of_a_file),
        cmocka_unit_test(the_process_itself_has_no_such_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

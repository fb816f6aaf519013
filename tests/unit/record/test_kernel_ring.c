/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/kernel_ring.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void *open_first(void *ring)
{
    return (void *)(intptr_t)kernel_ring_open(ring, 0, 64 << 10, 16 << 10);
}

/* poll() returns at once for the event of a thread that has ended. */
static void a_ring_is_quiet_after_the_thread_that_opened_it(void **state)
{
    struct kernel_ring ring;
    pthread_t thread;
    void *err;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, open_first, &ring), 0);
    assert_int_equal(pthread_join(thread, &err), 0);
    if (err)
        skip(); /* no right to open events */
    struct pollfd polled = {.fd = ring.fd, .events = POLLIN};
    int ready = poll(&polled, 1, 20);
    kernel_ring_close(&ring);
    assert_int_equal(polled.revents, 0);
    assert_int_equal(ready, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_quiet_after_the_thread_that_opened_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

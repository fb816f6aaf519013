/* SPDX-License-Identifier: MIT */
/* The shared memory: who has it, and how much of it there is. */
#include "record/session/session.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct session_config config = {.period_ns = 1000000};

static void a_forked_process_has_it_by_its_descriptors_only(void **state)
{
    (void)state;
    struct session session;
    assert_int_equal(session_open(&session, &config, NULL), 0);
    assert_int_equal(msync(session.requests, 4096, MS_ASYNC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool has_tables = msync(session.tables, 4096, MS_ASYNC) == 0 || errno != ENOMEM;
        bool has_requests = msync(session.requests, 4096, MS_ASYNC) == 0 || errno != ENOMEM;
        _exit(has_tables || has_requests);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_process_has_it_by_its_descriptors_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

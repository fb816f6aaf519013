/* SPDX-License-Identifier: MIT */
/* Why the threads of a program wait, each in a call that its name states. */
#include "record/procfs/blocked/wait_reason.h"

#include "waiting_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
    const char *name;
    enum wait_kind kind;
} expected[] = {
    {"nanosleep", WAIT_SLEEP},
    {"sleep_until", WAIT_SLEEP},
    {"poll", WAIT_POLL},
    {"select", WAIT_POLL},
    {"epoll_endless", WAIT_POLL},
    {"futex", WAIT_FUTEX},
    {"mutex", WAIT_LOCK},
    {"mutex_timed", WAIT_LOCK},
    {"condition", WAIT_CONDITION},
    {"condition_timed", WAIT_CONDITION},
    {"rwlock", WAIT_RWLOCK},
    {"barrier", WAIT_BARRIER},
    {"semaphore", WAIT_SEMAPHORE},
    {"semaphore_timed", WAIT_SEMAPHORE},
    {"sigtimedwait", WAIT_SIGNAL},
    {"read_pipe", WAIT_READ},
    {"write_pipe", WAIT_WRITE},
    {"recv_timed", WAIT_RECEIVE},
    {"send_socket", WAIT_SEND},
    {"accept", WAIT_ACCEPT},
    {"msgrcv", WAIT_MESSAGE},
    {"semop", WAIT_SEMAPHORE},
    {"io_getevents", WAIT_ASYNC_IO},
    {"mq_timedreceive", WAIT_MESSAGE},
    {"timerfd", WAIT_READ},
    {"flock", WAIT_FILE_LOCK},
    {"fcntl_lock", WAIT_FILE_LOCK},
    {"waitpid", WAIT_CHILD},
    {"waitid", WAIT_CHILD},
    {"vfork", WAIT_CHILD},
    {"open_fifo", WAIT_OPEN},
};

static struct wait_reason reason_of(struct wait_modules *modules,
                                    const struct waiting_process *process,
                                    const struct waiting_thread *thread)
{
    const struct look_process place = {process->pid, process->modules.cache, process->map, 1};
    return wait_reason_find(modules, &place, &thread->look, thread->frames, 'S');
}

/* The first thread with this name. */
static const struct waiting_thread *find(const struct waiting_process *process, const char *name)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (strcmp(process->threads[i].name, name) == 0)
            return &process->threads[i];
    return NULL;
}

static void check_reasons(const char *program)
{
    static struct waiting_process process;
    struct wait_modules modules = {0};
    waiting_start(&process, program);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct waiting_thread *thread = find(&process, expected[i].name);
        assert_non_null(thread);
        struct wait_reason reason = reason_of(&modules, &process, thread);
        if (reason.kind != expected[i].kind)
            print_error("%s: %s waits for: %s\n", program, expected[i].name,
                        wait_kind_name(reason.kind));
        assert_int_equal(reason.kind, expected[i].kind);
    }
    wait_modules_free(&modules);
    waiting_end(&process);
}

static void the_system_call_and_the_c_library_name_the_reason(void **state)
{
    (void)state;
    check_reasons("blocked_calls");
    check_reasons("blocked_calls_plain");
}

static void so_do_the_symbols_of_a_static_program(void **state)
{
    (void)state;
    check_reasons("blocked_calls_static");
}

static void a_join_is_a_futex_that_the_kernel_wakes(void **state)
{
    (void)state;
    static struct waiting_process process;
    struct wait_modules modules = {0};
    size_t joins = 0;
    waiting_start(&process, "blocked_calls");
    for (size_t i = 0; i < process.thread_count; i++)
        joins += reason_of(&modules, &process, &process.threads[i]).kind == WAIT_JOIN;
    assert_int_equal(joins, 1);
    wait_modules_free(&modules);
    waiting_end(&process);
}

static void a_mutex_names_its_holder_and_a_call_its_objects(void **state)
{
    (void)state;
    static struct waiting_process process;
    struct wait_modules modules = {0};
    waiting_start(&process, "blocked_calls");
    struct wait_reason mutex = reason_of(&modules, &process, find(&process, "mutex"));
    assert_int_equal(mutex.holder, process.pid); /* the main thread */
    assert_true(mutex.futex_avma != 0);
    struct wait_reason pipe = reason_of(&modules, &process, find(&process, "read_pipe"));
    assert_true(pipe.descriptor > 2);
    assert_string_equal(pipe.call, "read");
    struct wait_reason child = reason_of(&modules, &process, find(&process, "waitpid"));
    assert_true(child.child > process.pid);
    assert_int_equal(child.descriptor, -1);
    wait_modules_free(&modules);
    waiting_end(&process);
}

static void states_of_the_kernel_come_before_calls(void **state)
{
    (void)state;
    struct wait_modules modules = {0};
    const struct look_process process = {0};
    struct blocked_look look = {.call = {.state = CALL_FAULTING}};
    assert_int_equal(wait_reason_find(&modules, &process, &look, NULL, 'D').kind, WAIT_DISK);
    assert_int_equal(wait_reason_find(&modules, &process, &look, NULL, 'S').kind, WAIT_FAULT);
    assert_int_equal(wait_reason_find(&modules, &process, &look, NULL, 'T').kind, WAIT_STOPPED);
    look.call = (struct blocked_call){.state = CALL_WAITING, .number = 9999};
    assert_int_equal(wait_reason_find(&modules, &process, &look, NULL, 'S').kind, WAIT_OTHER);
    assert_int_equal(wait_reason_find(&modules, &process, &look, NULL, 't').kind, WAIT_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_call_and_the_c_library_name_the_reason),
        cmocka_unit_test(so_do_the_symbols_of_a_static_program),
        cmocka_unit_test(a_join_is_a_futex_that_the_kernel_wakes),
        cmocka_unit_test(a_mutex_names_its_holder_and_a_call_its_objects),
        cmocka_unit_test(states_of_the_kernel_come_before_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

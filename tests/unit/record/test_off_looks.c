/* SPDX-License-Identifier: MIT */
/* Files of another user that were put off for lack of time are read for a later look. */
#include "base/pid_fd.h"
#include "record/off_cpu/off_looks.h"
#include "record/tables/modules/module_cache.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER = 65534 };

struct fixture {
    pid_t child; /* waits, with the rights of another user */
    struct open_file_cache open_files;
    struct off_tasks tasks;
    struct off_queue queue;
    struct off_waits waits;
    struct off_looks looks;
    struct off_thread *thread;
};

static pid_t start_child(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(OTHER) != 0 || setuid(OTHER) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of ids */
        close(ready[0]);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* the end of the file */
    close(ready[0]);
    return child;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){.child = start_child()};
    off_queue_open(&f->queue);
    f->waits.samples.queue = &f->queue;
    f->looks = (struct off_looks){.tasks = &f->tasks, .queue = &f->queue, .waits = &f->waits};
    assert_int_equal(off_looks_open(&f->looks, &f->open_files, false), 0);
    f->thread = off_thread_add(&f->tasks, f->child, f->child, RUN_UNSEEN, 0);
    assert_non_null(f->thread);
}

static void tear_down(struct fixture *f)
{
    kill(f->child, SIGKILL);
    waitpid(f->child, NULL, 0);
    off_tasks_free(&f->tasks); /* releases modules of the looks */
    off_looks_close(&f->looks);
    off_queue_close(&f->queue);
    open_file_cache_free(&f->open_files);
}

static void set_time_left(struct fixture *f, int64_t left_ns)
{
    struct reading_time *time = &f->looks.modules.cache->budget.time;
    (void)reading_time_is_left(time, OTHER, monotonic_ns());
    time->users[0].left_ns = left_ns;
}

/* Until the child waits; at most 5 s. Whether its stack is complete. */
static bool look_is_complete(struct fixture *f)
{
    const uint64_t incomplete = f->looks.counts.incomplete;
    look_stack_release(f->thread->look.stack);
    f->thread->look.stack = NULL;
    for (int i = 0; i < 500 && !f->thread->look.stack; i++) {
        off_look(&f->looks, f->thread);
        usleep(f->thread->look.stack ? 0 : 10000);
    }
    assert_non_null(f->thread->look.stack);
    return f->looks.counts.incomplete == incomplete;
}

/* The pauses are over, and nothing else. */
static void wait_for_files(struct fixture *f)
{
    struct off_process *process = f->thread->process;
    assert_in_range(process->files_due_ns, 1, monotonic_ns() + 1000000000);
    process->files_due_ns = 1;
    process->map_due_ns = 0;
    for (size_t i = 0; i < f->looks.modules.cache->set.count; i++)
        f->looks.modules.cache->set.modules[i]->pause_end_ns = 0;
}

static size_t mappings_with_build_id(struct fixture *f)
{
    struct buffer entries = {0};
    const struct off_entry *entry;
    size_t at = 0, count = 0;
    off_queue_take(&f->queue, &entries);
    while ((entry = off_entry_next(&entries, &at)))
        count += entry->kind == OFF_ENTRY_MAPPING && entry->mapping.build_id_bytes > 0;
    buffer_free(&entries);
    return count;
}

static void files_are_opened_and_read_once_there_is_time(void **state)
{
    (void)state;
    struct fixture f;
    if (geteuid() != 0)
        skip(); /* the user's own files have no limit */
    set_up(&f);
    set_time_left(&f, -1000 * READING_START_NS);
    assert_false(look_is_complete(&f));
    assert_int_equal(mappings_with_build_id(&f), 0);
    wait_for_files(&f); /* still no time */
    assert_false(look_is_complete(&f));
    set_time_left(&f, READING_START_NS);
    f.thread->process->files_due_ns = UINT64_MAX;
    assert_false(look_is_complete(&f)); /* not yet due */
    f.thread->process->files_due_ns = 1;
    wait_for_files(&f);
    assert_true(look_is_complete(&f));
    assert_true(mappings_with_build_id(&f) > 0);
    assert_int_equal(f.thread->process->files_due_ns, 0);
    tear_down(&f);
}

/* The pid was given again since the descriptor was opened. */
static void no_stack_of_a_later_process_is_kept(void **state)
{
    (void)state;
    struct fixture f;
    if (geteuid() != 0)
        skip();
    set_up(&f);
    pid_t earlier = fork();
    if (earlier == 0)
        _exit(0);
    int pid_fd = pid_fd_open(earlier);
    assert_true(look_is_complete(&f));
    assert_int_equal(waitpid(earlier, NULL, 0), earlier);
    look_stack_release(f.thread->look.stack);
    f.thread->look.stack = NULL;
    f.thread->process->pid_fd = pid_fd;
    f.tasks.watched = 1;
    off_look(&f.looks, f.thread);
    assert_null(f.thread->look.stack);
    assert_true(f.thread->process->is_other);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_stack_of_a_later_process_is_kept),
        cmocka_unit_test(files_are_opened_and_read_once_there_is_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

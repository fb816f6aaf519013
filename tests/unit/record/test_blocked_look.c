/* SPDX-License-Identifier: MIT */
/*
 * Waiting threads, read from outside with SP and PC alone. The truth is the stack from all registers, which
 * ptrace gives by stopping the thread afterwards.
 */
#include "waiting_process.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A mixed copy takes a wake-up of the thread during the look: rare on a processor of its own. */
#define LOOKS_NS UINT64_C(60000000000)

/* Frames by all registers of the stopped thread. */
static size_t frames_by_ptrace(struct waiting_process *process, pid_t tid, uint64_t *frames)
{
    struct full_regs regs;
    static uint8_t bytes[1 << 20];
    if (!waiting_stop(tid, &regs))
        return 0;
    struct iovec local = {bytes, sizeof(bytes)};
    struct iovec remote = {(void *)(uintptr_t)regs.value[UNWIND_DWARF_SP], sizeof(bytes)};
    ssize_t got = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);
    assert_true(got > 0);
    struct stack_view stack = {.lo = regs.value[UNWIND_DWARF_SP],
                               .hi = regs.value[UNWIND_DWARF_SP] + (uint64_t)got,
                               .bytes = bytes};
    struct map_lookup lookup = {.cache = process->modules.cache, .map = process->map};
    const struct offline_map map = {.find = map_lookup_mapping, .context = &lookup};
    const struct offline_frames out = {.pcs = frames, .max = LOOK_FRAMES_MAX};
    return offline_unwind_in(&map, &regs, false, &stack, &out).frame_count;
}

static void assert_same(const struct waiting_process *process, const struct waiting_thread *thread,
                        const uint64_t *truth, size_t count)
{
    bool is_same = count == thread->look.end.frame_count &&
                   memcmp(truth, thread->frames, count * sizeof(*truth)) == 0;
    if (!is_same)
        print_error("%s: thread %d (%s): other frames\n", process->program, (int)thread->tid,
                    thread->name);
    assert_true(is_same);
}

/* Every thread of the program has a complete stack, and the same stack by all its registers. */
static size_t compare(const char *program, size_t *inferred)
{
    static struct waiting_process process;
    static uint64_t truth[LOOK_FRAMES_MAX];
    size_t compared = 0;
    waiting_start(&process, program);
    for (size_t i = 0; i < process.thread_count; i++) {
        const struct waiting_thread *thread = &process.threads[i];
        if (thread->look.result != LOOK_STACK || !thread->look.end.is_complete)
            print_error("%s: thread %d (%s): result %d, end %d after %u frames\n", program,
                        (int)thread->tid, thread->name, thread->look.result, thread->look.end.why,
                        thread->look.end.frame_count);
        assert_int_equal(thread->look.result, LOOK_STACK);
        assert_true(thread->look.end.is_complete);
        *inferred += thread->look.inferred_fps > 0;
    }
    for (size_t i = 0; i < process.thread_count; i++) {
        const struct waiting_thread *thread = &process.threads[i];
        size_t count = frames_by_ptrace(&process, thread->tid, truth);
        if (count == 0)
            continue; /* in vfork(): such a thread does not stop */
        assert_same(&process, thread, truth, count);
        compared++;
    }
    waiting_end(&process);
    return compared;
}

static void stacks_need_no_frame_pointer_where_cfi_counts_from_sp(void **state)
{
    (void)state;
    size_t inferred = 0;
    assert_true(compare("blocked_calls", &inferred) >= 50);
    assert_true(compare("blocked_calls_static", &inferred) >= 50);
    assert_true(inferred <= 2);
}

static void frame_pointers_are_inferred_where_cfi_counts_from_them(void **state)
{
    (void)state;
    size_t inferred = 0;
    assert_true(compare("blocked_calls_plain", &inferred) >= 50);
    assert_true(inferred >= 30);
    inferred = 0;
    assert_true(compare("blocked_calls_framed", &inferred) >= 50);
    assert_true(inferred >= 30);
    inferred = 0;
    assert_true(compare("blocked_calls_large", &inferred) >= 50);
    assert_true(inferred >= 30);
}

/* Whether the looker's copy has all words of rewrites_stack from the same turn. */
static bool is_of_one_turn(const struct blocked_looker *looker, uint64_t words_avma)
{
    enum { WORDS = 2048 };
    const struct stack_view view = remote_stack_view(&looker->stack);
    uint64_t first = 0, word;
    if (!stack_load(&view, words_avma, &first))
        return true; /* discarded before the copy reached the words */
    for (uint64_t i = 1; i < WORDS; i++)
        if (!stack_load(&view, words_avma + 8 * i, &word) || word != first)
            return false;
    return true;
}

static void a_stack_that_changed_during_the_look_is_discarded(void **state)
{
    (void)state;
    static struct waiting_process process;
    struct thread_files files;
    size_t stacks = 0, torn_mixed = 0, mixed = 0;
    waiting_start(&process, "rewrites_stack");
    const uint64_t words_avma = strtoull(process.first_line, NULL, 16);
    const struct look_process place = {process.pid, process.modules.cache, process.map, 1};
    assert_int_equal(thread_files_open(&files, process.pid, process.pid), 0);
    const uint64_t end_ns = monotonic_ns() + LOOKS_NS;
    while ((stacks <= 50 || torn_mixed <= 50) && monotonic_ns() < end_ns) {
        struct blocked_look look = blocked_look(&process.looker, &place, &files);
        bool is_mixed = !is_of_one_turn(&process.looker, words_avma);
        torn_mixed += look.result == LOOK_TORN && is_mixed;
        if (look.result != LOOK_STACK)
            continue;
        stacks++;
        mixed += is_mixed;
        assert_true(look.end.is_complete);
    }
    thread_files_close(&files);
    waiting_end(&process);
    assert_true(stacks > 50);
    assert_true(torn_mixed > 50); /* without the check, these would be mixed stacks */
    assert_int_equal(mixed, 0);
}

static void an_ended_thread_has_no_stack(void **state)
{
    (void)state;
    struct thread_files files;
    assert_int_equal(thread_files_open(&files, 1 << 30, 1 << 30), -ENOENT);
    static struct waiting_process process;
    waiting_start(&process, "rewrites_stack");
    const struct look_process place = {process.pid, process.modules.cache, process.map, 1};
    assert_int_equal(thread_files_open(&files, process.pid, process.pid), 0);
    kill(process.pid, SIGKILL);
    waitpid(process.pid, NULL, 0);
    struct blocked_look look = blocked_look(&process.looker, &place, &files);
    assert_int_equal(look.result, LOOK_FAILED);
    assert_int_equal(look.error, -ESRCH);
    thread_files_close(&files);
    waiting_end(&process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_need_no_frame_pointer_where_cfi_counts_from_sp),
        cmocka_unit_test(frame_pointers_are_inferred_where_cfi_counts_from_them),
        cmocka_unit_test(a_stack_that_changed_during_the_look_is_discarded),
        cmocka_unit_test(an_ended_thread_has_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

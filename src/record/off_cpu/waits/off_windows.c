/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/off_windows.h"

#include "record/off_cpu/waits/off_account.h"

/* Runnable time at the ends of all short waits: a sum, however long. */
static void add_woken(struct off_waits *waits, struct off_thread *thread, uint64_t part_ns)
{
    struct short_waits *shorts = &thread->shorts;
    wait_samples_add_short_runnable(&waits->samples, thread, shorts->since_ns,
                                    shorts->since_ns + part_ns);
    if (shorts->wakes > 1)
        thread->runnable.intervals += shorts->wakes - 1; /* one is added */
    shorts->wakes = 0;
}

/* Moves runnable time out of the sum of the short waits, or back: the total of both stays. */
static void move_woken(struct off_waits *waits, struct off_thread *thread)
{
    struct short_waits *shorts = &thread->shorts, *runnable = &thread->runnable;
    uint64_t part_ns = off_account_part(thread->woken_ns, shorts->sum_ns);
    uint64_t back_ns = off_account_part(-thread->woken_ns, runnable->sum_ns);
    thread->woken_ns += (int64_t)(back_ns - part_ns);
    shorts->sum_ns -= part_ns;
    runnable->sum_ns -= back_ns;
    waits->samples.sums.waiting_ns += back_ns - part_ns;
    waits->samples.sums.runnable_ns -= back_ns;
    if (part_ns)
        add_woken(waits, thread, part_ns);
    if (back_ns)
        short_waits_add(shorts, runnable->since_ns, runnable->since_ns + back_ns);
}

static void reduce(int64_t *excess_ns, uint64_t *sum_ns, uint64_t *total_ns)
{
    uint64_t part_ns = off_account_part(*excess_ns, *sum_ns);
    *excess_ns -= (int64_t)part_ns;
    *sum_ns -= part_ns;
    *total_ns -= part_ns;
}

/* Of CPU time by the account that the records have as time off the processor (cpu_excess.h). The
 * rest is left for the next window. */
static void drop_excess(struct off_waits *waits, struct off_thread *thread)
{
    reduce(&thread->excess_ns, &thread->shorts.sum_ns, &waits->samples.sums.waiting_ns);
    reduce(&thread->excess_ns, &thread->runnable.sum_ns, &waits->samples.sums.runnable_ns);
}

/* A woken thread does not wait any more, though its switch record is still to come. Nor does one
 * with later turns in the account. */
static bool is_waiting(struct off_waits *waits, const struct off_thread *thread, uint64_t until_ns)
{
    if (thread->run.state != RUN_BLOCKED || thread->is_left_out || thread->delay.turns_ahead ||
        !wait_is_long(&thread->cut, &waits->samples.ticks, until_ns) ||
        (thread->look.stack && !off_waits_stack(thread, until_ns)))
        return false;
    if (!waits->is_runnable || waits->checks_left == 0)
        return true;
    waits->checks_left--;
    return !waits->is_runnable(thread->process->pid, thread->tid);
}

void off_windows_flush(struct off_waits *waits, struct off_thread *thread, uint64_t until_ns)
{
    if (waits->is_quiet)
        return;
    if (thread->run.state == RUN_LOST)
        off_waits_resume(waits, thread, until_ns);
    off_waits_read_account(waits, thread);
    move_woken(waits, thread);
    drop_excess(waits, thread);
    if (thread->shorts.count > 0)
        wait_samples_share(&waits->samples, thread);
    if (thread->runnable.sum_ns > 0)
        wait_samples_put_sum(&waits->samples, thread, &thread->runnable, WAIT_FRAME_RUNNABLE);
    bool is_preempted = thread->run.state == RUN_PREEMPTED && !thread->is_left_out;
    if (is_preempted && until_ns > thread->run.since_ns + 2 * waits->samples.ticks.interval_ns)
        wait_samples_put_runnable(&waits->samples, thread, thread->run.since_ns, until_ns);
    if (is_waiting(waits, thread, until_ns))
        wait_samples_cut(&waits->samples, thread, until_ns, false, thread->look.stack);
}

void off_windows_finish(struct off_waits *waits, struct off_thread *thread)
{
    if (waits->is_quiet)
        return;
    move_woken(waits, thread);
    drop_excess(waits, thread);
    if (thread->shorts.count > 0)
        wait_samples_share(&waits->samples, thread);
    waits->samples.sums.short_ns += thread->shorts.sum_ns;
    wait_samples_put_sum(&waits->samples, thread, &thread->shorts, WAIT_FRAME_SHORT);
    wait_samples_put_sum(&waits->samples, thread, &thread->runnable, WAIT_FRAME_RUNNABLE);
}

/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_account.h"

/* Of a thread without a processor. The account of a turn under way is as old as the latest timer
 * interrupt, and an account may be newer than the records. */
static void take_excess(struct off_thread *thread, const struct run_account *account,
                        struct cpu_excess *all)
{
    const struct thread_run *run = &thread->run;
    if (run->state != RUN_BLOCKED && run->state != RUN_PREEMPTED)
        return;
    uint64_t turns = thread->excess.read_turns;
    int64_t new_ns =
        cpu_excess_take(&thread->excess, account->cpu_ns, account->turns, run->sums_ns[RUN_ON]);
    thread->excess_ns += new_ns;
    all->taken_ns += new_ns;
    all->read_turns += thread->excess.read_turns - turns;
}

int64_t off_account_take(struct off_thread *thread, const struct run_account *account,
                         struct cpu_excess *all)
{
    bool has_records = thread->poll.read_ns == 0;
    if (has_records)
        take_excess(thread, account, all);
    thread->delay.turns_ahead =
        has_records ? cpu_excess_turns_ahead(&thread->excess, account->turns) : 0;
    thread->delay.ahead_ns = account->delay_ns;
    return thread->delay.turns_ahead ? 0 : off_account_take_delay(thread, account);
}

int64_t off_account_take_delay(struct off_thread *thread, const struct run_account *account)
{
    return run_delay_take(&thread->delay, account->delay_ns, thread->run.sums_ns[RUN_PREEMPTED]);
}

void off_account_end(struct off_thread *thread, const struct cpu_excess *all)
{
    struct cpu_excess mean = thread->excess.read_turns ? thread->excess : *all;
    mean.turns = thread->excess.turns;
    thread->excess_ns += cpu_excess_estimate(&mean);
}

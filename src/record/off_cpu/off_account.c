/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_account.h"

/* The account of a thread on a processor is as old as the latest timer interrupt, and an account
 * may be newer than the records. Neither matters where the turns on a processor are short. */
#define TURN_MAX_NS UINT64_C(1000000)

static bool is_account_of_records(const struct off_thread *thread,
                                  const struct run_account *account, uint64_t turn_ns)
{
    const struct thread_run *run = &thread->run;
    uint64_t turns = thread->excess.turns + thread->excess.read_turns;
    if (turn_ns > TURN_MAX_NS || run->state == RUN_LOST || run->state == RUN_UNSEEN)
        return false;
    return run->sums_ns[RUN_ON] <= turns * TURN_MAX_NS ||
           (thread->has_all_turns && account->turns == turns);
}

static void take_excess(struct off_thread *thread, const struct run_account *account,
                        uint64_t until_ns, struct cpu_excess *all)
{
    const struct thread_run *run = &thread->run;
    uint64_t turns = thread->excess.turns, turn_ns = 0;
    bool has_base = thread->excess.has_base;
    if (run->state == RUN_ON && until_ns > run->since_ns)
        turn_ns = until_ns - run->since_ns;
    if (!is_account_of_records(thread, account, turn_ns))
        return;
    int64_t new_ns =
        cpu_excess_take(&thread->excess, account->cpu_ns, run->sums_ns[RUN_ON] + turn_ns);
    thread->excess_ns += new_ns;
    all->taken_ns += new_ns;
    all->read_turns += has_base ? turns : 0;
}

int64_t off_account_take(struct off_thread *thread, const struct run_account *account,
                         uint64_t until_ns, struct cpu_excess *all)
{
    take_excess(thread, account, until_ns, all);
    return run_delay_take(&thread->delay, account->delay_ns, thread->run.sums_ns[RUN_PREEMPTED]);
}

void off_account_end(struct off_thread *thread, const struct cpu_excess *all)
{
    struct cpu_excess mean = thread->excess.read_turns ? thread->excess : *all;
    mean.turns = thread->excess.turns;
    thread->excess_ns += cpu_excess_estimate(&mean);
    thread->excess.turns = 0;
}

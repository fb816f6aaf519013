/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/off_account.h"

/* Of a thread without a processor. The account of a turn under way is as old as the latest timer
 * interrupt, and an account may be newer than the records. */
static void take_excess(struct off_thread *thread, const struct run_account *account)
{
    const struct thread_run *run = &thread->run;
    if (run->state != RUN_BLOCKED && run->state != RUN_PREEMPTED)
        return;
    thread->excess_ns +=
        cpu_excess_take(&thread->excess, account->cpu_ns, account->turns, run->sums_ns[RUN_ON]);
}

int64_t off_account_take(struct off_thread *thread, const struct run_account *account)
{
    bool has_records = thread->poll.read_ns == 0;
    if (has_records)
        take_excess(thread, account);
    thread->delay.turns_ahead =
        has_records ? cpu_excess_turns_ahead(&thread->excess, account->turns) : 0;
    thread->delay.ahead_ns = account->delay_ns;
    return thread->delay.turns_ahead ? 0 : off_account_take_delay(thread, account);
}

/* The last turns, in the kernel's end of the thread, have no records: the recorded wake-ups have
 * their share of the delay, at the mean of all. The records have the delay of preemptions. */
int64_t off_account_take_last(struct off_thread *thread, const struct run_account *account)
{
    int64_t woken_ns = off_account_take(thread, account);
    double ahead = (double)thread->delay.turns_ahead, wakes = (double)thread->wakes;
    if (ahead == 0)
        return woken_ns;
    return (int64_t)((double)off_account_take_delay(thread, account) * wakes / (wakes + ahead));
}

int64_t off_account_take_delay(struct off_thread *thread, const struct run_account *account)
{
    thread->wakes = 0;
    return run_delay_take(&thread->delay, account->delay_ns, thread->run.sums_ns[RUN_PREEMPTED]);
}

bool off_account_has_note(const struct off_thread *thread, const struct run_account *note)
{
    uint64_t turns = cpu_excess_turns(&thread->excess);
    return thread->excess.has_base && note->turns <= turns && turns - note->turns < OFF_TURNS;
}

/* The records may have preemptions since the note. */
int64_t off_account_take_note(struct off_thread *thread, const struct run_account *note)
{
    thread->wakes = thread->delay.turns_ahead = 0;
    return run_delay_take(&thread->delay, note->delay_ns,
                          thread->preempted_at[note->turns % OFF_TURNS]);
}

uint64_t off_account_part(int64_t amount_ns, uint64_t sum_ns)
{
    uint64_t part_ns = amount_ns > 0 ? (uint64_t)amount_ns : 0;
    return part_ns < sum_ns ? part_ns : sum_ns;
}

/* A thread that loses its processor to a woken one is without it from the wake-up on, some us
 * before its record. More than that was stolen from a virtual machine. */
uint64_t off_account_take_preempted(struct off_thread *thread)
{
    uint64_t most_ns = CPU_EXCESS_MAX_NS * thread->preemptions - thread->preempted_ns;
    uint64_t part_ns =
        off_account_part(thread->woken_ns, off_account_part(-thread->excess_ns, most_ns));
    thread->woken_ns -= (int64_t)part_ns;
    thread->excess_ns += (int64_t)part_ns;
    thread->preempted_ns += part_ns;
    return part_ns;
}

void off_account_end(struct off_thread *thread)
{
    thread->excess_ns += cpu_excess_estimate(&thread->excess);
}

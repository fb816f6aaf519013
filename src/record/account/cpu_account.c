/* SPDX-License-Identifier: MIT */
#include "record/account/cpu_account.h"

/* sampler/sample/sample.c keeps a reserve of so many periods for kernel time. */
#define RESERVE_PERIODS 2
/* Of a sample in the kernel. */
#define EXCESS_PARTS 8

struct cpu_account cpu_account_start(uint64_t cpu_ns, uint64_t now_ns)
{
    return (struct cpu_account){.start_cpu_ns = cpu_ns,
                                .last_cpu_ns = cpu_ns,
                                .counted_cpu_ns = cpu_ns,
                                .looked_ns = now_ns};
}

uint64_t cpu_account_settled_ns(const struct cpu_account *account)
{
    return account->start_cpu_ns + account->seen_ns + account->waiting_ns;
}

uint64_t cpu_account_gap_ns(const struct cpu_account *account)
{
    uint64_t settled_ns = cpu_account_settled_ns(account);
    return account->last_cpu_ns > settled_ns ? account->last_cpu_ns - settled_ns : 0;
}

bool cpu_account_look(struct cpu_account *account, uint64_t cpu_ns, uint64_t now_ns)
{
    bool has_grown = cpu_ns > account->last_cpu_ns;
    if (cpu_ns)
        account->looked_ns = now_ns;
    if (has_grown)
        account->last_cpu_ns = cpu_ns;
    uint64_t settled_ns = cpu_account_settled_ns(account);
    /* Set anew at each look, not added up: settled_ns lacks the part taken by
     * cpu_account_weigh(). */
    account->excess_ns = settled_ns > account->last_cpu_ns ? settled_ns - account->last_cpu_ns : 0;
    return has_grown;
}

uint64_t cpu_account_weigh(struct cpu_account *account, uint64_t period_ns)
{
    uint64_t most_ns = period_ns / EXCESS_PARTS;
    uint64_t taken_ns = account->excess_ns < most_ns ? account->excess_ns : most_ns;
    account->excess_ns -= taken_ns;
    return period_ns - taken_ns;
}

void cpu_account_raise(struct cpu_account *account, uint64_t cpu_ns)
{
    if (cpu_ns > account->last_cpu_ns)
        account->last_cpu_ns = cpu_ns;
}

void cpu_account_restart(struct cpu_account *account, uint64_t cpu_ns)
{
    account->start_cpu_ns = account->last_cpu_ns = account->counted_cpu_ns = cpu_ns;
    account->seen_ns = 0;
}

uint64_t cpu_account_by_count_ns(const struct cpu_account *account, uint64_t count_ns)
{
    return account->counted_cpu_ns + count_ns - account->last_count_ns;
}

struct cpu_rest cpu_account_split(uint64_t rest_ns, uint64_t settled_ns, uint64_t end_cpu_ns)
{
    /* A stated end beyond the kernel's figure is untrue, or later than the last look: no
     * teardown. */
    uint64_t own_ns = end_cpu_ns > settled_ns ? end_cpu_ns - settled_ns : 0;
    uint64_t between_ns = end_cpu_ns == 0 || own_ns > rest_ns ? rest_ns : own_ns;
    return (struct cpu_rest){.between_ns = between_ns, .after_ns = rest_ns - between_ns};
}

uint64_t cpu_account_periods_ns(uint64_t period_ns, bool counts_user_only, uint64_t threads)
{
    return period_ns * (counts_user_only ? 1 + 2 * RESERVE_PERIODS : 1) * threads;
}

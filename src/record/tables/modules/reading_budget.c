/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/reading_budget.h"

#include "base/budget.h"
#include "base/clock.h"

#include <unistd.h>

static bool is_limited(uid_t uid)
{
    return uid != 0 && geteuid() == 0;
}

static uint64_t bytes_max(bool is_of_others)
{
    return is_of_others ? FILE_BYTES_MAX : budget_amount(BUDGET_TABLE_BYTES);
}

void reading_budget_open(struct reading_budget *budget)
{
    *budget = (struct reading_budget){0};
    for (int i = 0; i < 2; i++) {
        const uint64_t most = INT64_MAX / RULE_ROOM_TIMES, bytes = bytes_max(i);
        budget->rule_room[i].left_bytes = RULE_ROOM_TIMES * (int64_t)(bytes < most ? bytes : most);
    }
}

static bool has_time(struct reading_budget *budget, uid_t uid)
{
    return !is_limited(uid) || reading_time_is_left(&budget->time, uid, monotonic_ns());
}

void reading_budget_refuse(struct reading_budget *budget, const struct mapped_file *file)
{
    left_out_add(&budget->left_out, file->path, file->device, file->inode,
                 is_limited(budget->payer));
}

void reading_budget_leave_out(struct reading_budget *budget, const struct known_module *module)
{
    left_out_add(&budget->left_out, module->path, module->device, module->inode,
                 is_limited(budget->payer));
}

void reading_budget_pay(struct reading_budget *budget, uid_t payer)
{
    budget->payer = payer;
}

/* A file mapped by several users is paid by the first with time left, so no user can use up the
 * time of a shared library for the others. */
bool reading_budget_begin(struct reading_budget *budget, struct known_module *module)
{
    bool may_read = has_time(budget, module->payers[0]);
    budget->payer = module->payers[may_read ? 0 : 1];
    may_read |= has_time(budget, budget->payer);
    if (!may_read)
        reading_budget_leave_out(budget, module);
    budget->begin_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return may_read;
}

void reading_budget_end(struct reading_budget *budget)
{
    uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - budget->begin_cpu_ns;
    if (budget->payer != 0)
        reading_time_spend(&budget->time, budget->payer, cpu_ns);
}

/* Two accounts: files of limited users can take memory from one another, but not from the files of
 * root. */
uint64_t reading_budget_bytes(const struct reading_budget *budget)
{
    const bool is_of_others = is_limited(budget->payer);
    const uint64_t most = bytes_max(is_of_others), held = budget->held_bytes[is_of_others];
    return held < most ? most - held : 0;
}

struct row_room *reading_budget_rule_room(struct reading_budget *budget)
{
    return &budget->rule_room[is_limited(budget->payer)];
}

void reading_budget_hold(struct reading_budget *budget, struct known_module *module, size_t bytes)
{
    const bool is_of_others = is_limited(budget->payer);
    module->held_bytes[is_of_others] += bytes;
    budget->held_bytes[is_of_others] += bytes;
}

void reading_budget_drop(struct reading_budget *budget, const struct known_module *module)
{
    for (int i = 0; i < 2; i++)
        budget->held_bytes[i] -= module->held_bytes[i];
}

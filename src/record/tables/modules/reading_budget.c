/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/reading_budget.h"

#include "base/budget.h"
#include "base/clock.h"

#include <unistd.h>

static bool is_limited(uid_t uid)
{
    return uid != 0 && geteuid() == 0;
}

static uint64_t cfi_bytes_max(bool is_of_others)
{
    return is_of_others ? CFI_BYTES_MAX : budget_amount(BUDGET_TABLE_BYTES);
}

void reading_budget_open(struct reading_budget *budget)
{
    *budget = (struct reading_budget){0};
    for (int i = 0; i < 2; i++) {
        const uint64_t most = INT64_MAX / RULE_ROOM_TIMES, bytes = cfi_bytes_max(i);
        budget->rule_room[i].left_bytes = RULE_ROOM_TIMES * (int64_t)(bytes < most ? bytes : most);
    }
}

static bool has_time(struct reading_budget *budget, uid_t uid)
{
    return !is_limited(uid) || reading_time_is_left(&budget->time, uid, monotonic_ns());
}

void reading_budget_leave_out(struct reading_budget *budget, struct known_module *module)
{
    uint64_t *count =
        is_limited(budget->payer) ? &budget->left_out.files : &budget->left_out.tables;
    *count += !module->is_left_out;
    module->is_left_out = true;
}

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

uint64_t reading_budget_cfi_bytes(const struct reading_budget *budget)
{
    const bool is_of_others = is_limited(budget->payer);
    return cfi_bytes_max(is_of_others) - budget->cfi_bytes[is_of_others];
}

struct row_room *reading_budget_rule_room(struct reading_budget *budget)
{
    return &budget->rule_room[is_limited(budget->payer)];
}

bool reading_budget_is_cfi_held(const struct reading_budget *budget)
{
    return budget->cfi_bytes[is_limited(budget->payer)] > 0;
}

void reading_budget_hold_cfi(struct reading_budget *budget, struct known_module *module)
{
    module->is_cfi_limited = is_limited(budget->payer);
    module->cfi_bytes = unwind_module_bytes(module->unwind);
    budget->cfi_bytes[module->is_cfi_limited] += module->cfi_bytes;
}

void reading_budget_drop_cfi(struct reading_budget *budget, const struct known_module *module)
{
    budget->cfi_bytes[module->is_cfi_limited] -= module->cfi_bytes;
}

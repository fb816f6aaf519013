/* SPDX-License-Identifier: MIT */
/*
 * A program may forbid all system calls but its own, with a kill as the consequence. So the sampler
 * evaluates each new filter for each own system call. A call not silently allowed is never made
 * again: kills, signals, a supervisor and the audit log would all be visible.
 *
 * A filter applies to the installing thread and its children; here, to the whole process. A
 * forbidden call stays forbidden. Filters from before the program apply to the sampler, too.
 */
#include "sampler/seccomp/seccomp.h"

#include "sampler/base/memory.h"
#include "sampler/base/own_call.h"
#include "sampler/exec/environ.h"
#include "sampler/seccomp/seccomp_eval.h"
#include "sampler/signals/own_action.h"

/* Above the calls in process.forbidden: the number of changes. */
#define ONE_CHANGE (UINT64_C(1) << SECCOMP_USES_MAX)

static uint64_t find_forbidden(const struct sock_fprog *filter)
{
    uint64_t forbidden = 0;
    for (uint32_t i = 0; i < OWN_CALL_COUNT; i++) {
        struct seccomp_call call = {.unknown = own_call_forms[i].any,
                                    .data = {.nr = own_call_forms[i].number, .arch = ARCH_AUDIT}};
        for (uint32_t j = 0; j < 6; j++)
            call.data.args[j] = own_call_forms[i].arguments[j];
        if (!seccomp_eval_allows(filter->filter, filter->len, &call))
            forbidden |= UINT64_C(1) << i;
    }
    return forbidden;
}

/* A bad address is left to the kernel; without a way to test the address, all calls count as
 * forbidden. */
static uint64_t read_forbidden(const struct sock_fprog *filter)
{
    uintptr_t page = MEMORY_NO_PAGE;
    if (seccomp_forbids(CALLS_OF_MEMORY))
        return ALL_CALLS;
    if (!memory_is_readable(filter, sizeof(*filter), &page) ||
        !memory_is_readable(filter->filter, filter->len * sizeof(struct sock_filter), &page))
        return 0;
    return find_forbidden(filter);
}

/* Handlers could not return any more: sshd installs such a filter before the login. */
static bool ends_sampling(uint64_t before, uint64_t after)
{
    return process_is_followed() && after & ~before & CALL_BIT(HANDLER_RETURN);
}

struct seccomp_change seccomp_begin(const void *filter)
{
    struct seccomp_change change = {.before = load_relaxed(&process.forbidden)};
    uint64_t forbidden = read_forbidden(filter);
    if (ends_sampling(change.before, forbidden))
        own_action_ignore(); /* while still allowed */
    do
        change.after = (change.before | forbidden) + ONE_CHANGE;
    while (!__atomic_compare_exchange_n(&process.forbidden, &change.before, change.after, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    environ_refresh();
    return change;
}

/* Not after a change by another thread. */
void seccomp_end(struct seccomp_change change, bool has_failed)
{
    uint64_t after = change.after;
    if (has_failed &&
        __atomic_compare_exchange_n(&process.forbidden, &after, change.before, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        ends_sampling(change.before, change.after))
        own_action_restore();
}

/* SPDX-License-Identifier: MIT */
/*
 * A program may forbid itself, on pain of death, all system calls but those that it knows of. So its filter is asked
 * first about each call that the sampler may make later on. One that is not let through silently is never made again:
 * whatever a filter does otherwise (killing, signals, a supervisor, the audit log), somebody would notice.
 *
 * A filter holds for the thread that installs it, with its children; here, for the whole process. What is forbidden
 * once remains so. One that was there before the program is the sampler's, too.
 */
#include "sampler/seccomp/seccomp.h"

#include "sampler/arch/arch.h"
#include "sampler/base/memory.h"
#include "sampler/base/own_call.h"
#include "sampler/exec/environ.h"
#include "sampler/seccomp/seccomp_eval.h"
#include "sampler/signals/own_action.h"

/* Above the calls in process.forbidden: how often it changed. */
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

/* A bad address the kernel refuses; where that cannot be known, everything counts as forbidden. */
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

/* No handler can return any more, ours neither: sshd allows that to the process that speaks with whoever has not
 * logged in yet. */
static bool ends_sampling(uint64_t before, uint64_t after)
{
    return process_is_followed() && after & ~before & CALL_BIT(HANDLER_RETURN);
}

struct seccomp_change seccomp_begin(const void *filter)
{
    struct seccomp_change change = {.before = load_relaxed(&process.forbidden)};
    uint64_t forbidden = read_forbidden(filter);
    if (ends_sampling(change.before, forbidden))
        own_action_ignore(); /* while it may */
    do
        change.after = (change.before | forbidden) + ONE_CHANGE;
    while (!__atomic_compare_exchange_n(&process.forbidden, &change.before, change.after, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    environ_refresh();
    return change;
}

/* Not when another thread has changed it meanwhile. */
void seccomp_end(struct seccomp_change change, bool has_failed)
{
    uint64_t after = change.after;
    if (has_failed &&
        __atomic_compare_exchange_n(&process.forbidden, &after, change.before, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        ends_sampling(change.before, change.after))
        own_action_restore();
}

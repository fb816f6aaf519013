/* SPDX-License-Identifier: MIT */
/*
 * A program may forbid itself, on pain of death, all system calls but those that it knows of. So its filter is asked
 * first about each call that the sampler may make later on. One that is not let through silently is never made again:
 * whatever a filter does otherwise (killing, signals, a supervisor, the audit log), somebody would notice.
 *
 * A filter holds for the thread that installs it, with its children; here, for the whole process. What is forbidden
 * once remains so. One that was there before the program is the sampler's, too.
 */
#include "sampler/sandbox.h"

#include "sampler/bpf.h"
#include "sampler/memory.h"
#include "sampler/real.h"

#include <sys/prctl.h>
#include <unistd.h>

/* Above the calls in process.forbidden: how often it changed. */
#define ONE_CHANGE (UINT64_C(1) << SANDBOX_USES_MAX)

struct own_call_form {
    uint16_t number, any;
    uint64_t arguments[6];
};

static const struct own_call_form forms[OWN_CALL_COUNT] = {
#define OWN_FORM(use, call, any, ...) {SYS_##call, any, {__VA_ARGS__}},
    OWN_CALLS(OWN_FORM)
#undef OWN_FORM
};

uint64_t sandbox_clock_ns(enum own_call clock)
{
    struct timespec now = {0};
    if (!sandbox_forbids(UINT64_C(1) << clock))
        raw_syscall(SYS_clock_gettime, forms[clock].arguments[0], &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t find_forbidden(const struct sock_fprog *filter)
{
    uint64_t forbidden = 0;
    for (uint32_t i = 0; i < OWN_CALL_COUNT; i++) {
        struct bpf_call call = {.unknown = forms[i].any,
                                .data = {.nr = forms[i].number, .arch = ARCH_AUDIT}};
        for (uint32_t j = 0; j < 6; j++)
            call.data.args[j] = forms[i].arguments[j];
        if (!bpf_allows(filter->filter, filter->len, &call))
            forbidden |= UINT64_C(1) << i;
    }
    return forbidden;
}

/* A bad address the kernel refuses; where that cannot be known, everything counts as forbidden. */
static uint64_t read_forbidden(const struct sock_fprog *filter)
{
    uintptr_t page = MEMORY_NO_PAGE;
    if (sandbox_forbids(CALLS_OF_MEMORY))
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

struct sandbox_change sandbox_begin(const void *filter)
{
    struct sandbox_change change = {.before = load_relaxed(&process.forbidden)};
    uint64_t forbidden = read_forbidden(filter);
    if (ends_sampling(change.before, forbidden))
        signals_ignore(); /* while it may */
    do
        change.after = (change.before | forbidden) + ONE_CHANGE;
    while (!__atomic_compare_exchange_n(&process.forbidden, &change.before, change.after, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return change;
}

/* Not when another thread has changed it meanwhile. */
void sandbox_end(struct sandbox_change change, bool has_failed)
{
    uint64_t after = change.after;
    if (has_failed &&
        __atomic_compare_exchange_n(&process.forbidden, &after, change.before, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        ends_sampling(change.before, change.after))
        signals_heed();
}

/* Its own declaration has no parameters to hand on: with these the call becomes a jump, which leaves nothing on the
 * stack, as those need who make a new process this way. */
long syscall_hook(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

/* With flags it may return a descriptor, or the id of a thread that cannot take the filter. */
static long install_filter(long number, long a, long b, long c)
{
    struct sandbox_change change = sandbox_begin((const void *)c);
    long result = REAL(syscall)(number, a, b, c);
    sandbox_end(change, result < 0);
    return result;
}

__attribute__((visibility("default"))) long syscall_hook(long number, long a, long b, long c,
                                                         long d, long e, long f)
{
    typedef long function(long, long, long, long, long, long, long);
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
        return install_filter(number, a, b, c);
    if (number == SYS_close_range)
        return close_range((unsigned)a, (unsigned)b, (int)c);
    if (number == SYS_mlockall)
        return mlockall((int)a);
    if (number == SYS_signalfd || number == SYS_signalfd4)
        signalfd_prepare((const sigset_t *)b, (size_t)c);
    if (number == SYS_rt_sigtimedwait && d == sizeof(uint64_t))
        return waits_bare((const sigset_t *)a, (siginfo_t *)b, (const struct timespec *)c);
    if (number == SYS_prctl)
        return prctl((int)a, b, c, d, e);
    if (signals_are_set_by(number, (int)a, d))
        return raw_told(
            signals_set_bare((const struct kernel_action *)b, (struct kernel_action *)c));
    if (clone_is_fork(number, a, b)) {
        long pid = ((function *)real_function(REAL_INDEX_syscall))(number, a, b, c, d, e, f);
        if (pid == 0)
            process_join_after_fork();
        return pid;
    }
    return ((function *)real_function(REAL_INDEX_syscall))(number, a, b, c, d, e, f);
}

/* SPDX-License-Identifier: MIT */
#include "sampler/base/own_call.h"

const struct own_call_form own_call_forms[OWN_CALL_COUNT] = {
#define OWN_FORM(use, call, any, ...) {SYS_##call, any, {__VA_ARGS__}},
    OWN_CALLS(OWN_FORM)
#undef OWN_FORM
};

uint64_t own_clock_ns(enum own_call clock)
{
    struct timespec now = {0};
    if (!seccomp_forbids(UINT64_C(1) << clock))
        raw_syscall(SYS_clock_gettime, own_call_forms[clock].arguments[0], &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool process_is_another(void)
{
    if (seccomp_forbids(CALL_BIT(GETPID)))
        return load_relaxed(process_alive) != 1;
    return process.pid && process.pid != (uint32_t)own_syscall(GETPID);
}

/* SPDX-License-Identifier: MIT */
/* System calls of the sampler, absent without the sampler. A filter of the program may forbid
 * them (seccomp.h); own_syscall() leaves out a forbidden call, as if the kernel had refused the
 * call. raw_syscall() makes calls on behalf of the program. */
#pragma once

#include "sampler/base/raw_call.h"
#include "sampler/base/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

/* Arguments of any value: addresses, descriptors, ids, sizes. */
enum { ANY_0 = 1, ANY_1 = 2, ANY_2 = 4, ANY_3 = 8, ANY_4 = 16, ANY_5 = 32 };

/* Each use: name, call, arguments of any value, and all other arguments except 0. The
 * environment holds a bit for each: at most SECCOMP_USES_MAX. */
#define OWN_CALLS(X)                                                                       \
    X(PROCESS_CLOCK, clock_gettime, ANY_1, CLOCK_PROCESS_CPUTIME_ID)                       \
    X(THREAD_CLOCK, clock_gettime, ANY_1, CLOCK_THREAD_CPUTIME_ID)                         \
    X(CLOCK, clock_gettime, ANY_1, CLOCK_MONOTONIC)                                        \
    X(GETPID, getpid, 0, 0)                                                                \
    X(GETPPID, getppid, 0, 0)                                                              \
    X(GETTID, gettid, 0, 0)                                                                \
    X(GETUID, getuid, 0, 0)                                                                \
    X(GETGID, getgid, 0, 0)                                                                \
    X(GET_NAME, prctl, ANY_1, PR_GET_NAME)                                                 \
    X(GET_TSC, prctl, ANY_1, PR_GET_TSC)                                                   \
    X(SIGACTION, rt_sigaction, ANY_0 | ANY_1 | ANY_2, 0, 0, 0, 8)                          \
    X(SIGPROCMASK, rt_sigprocmask, ANY_0 | ANY_1 | ANY_2, 0, 0, 0, 8)                      \
    X(FUTEX_WAKE, futex, ANY_0, 0, FUTEX_WAKE, 1)                                          \
    X(FUTEX_WAIT, futex, ANY_0 | ANY_2 | ANY_3, 0, FUTEX_WAIT)                             \
    X(TIMER_CREATE, timer_create, ANY_1 | ANY_2, CLOCK_THREAD_CPUTIME_ID)                  \
    X(TIMER_SETTIME, timer_settime, ANY_0 | ANY_2, 0)                                      \
    X(TIMER_DELETE, timer_delete, ANY_0, 0)                                                \
    X(CHILDREN_USAGE, getrusage, ANY_1, (uint64_t)RUSAGE_CHILDREN)                         \
    X(STACK_LIMIT, prlimit64, ANY_3, 0, RLIMIT_STACK)                                      \
    X(SPACE_LIMIT, prlimit64, ANY_3, 0, RLIMIT_AS)                                         \
    X(FILE_LIMIT, prlimit64, ANY_2 | ANY_3, 0, RLIMIT_FSIZE)                               \
    X(EXISTS, kill, ANY_0, 0)                                                              \
    X(YIELD, sched_yield, 0, 0)                                                            \
    X(OPEN, openat, ANY_0 | ANY_1 | ANY_2, 0)                                              \
    X(READ_AT, pread64, ANY_0 | ANY_1 | ANY_2 | ANY_3, 0)                                  \
    X(CLOSE, close, ANY_0, 0)                                                              \
    X(STAT, newfstatat, ANY_0 | ANY_1 | ANY_2 | ANY_3, 0)                                  \
    X(STAT_FD, fstat, ANY_0 | ANY_1, 0)                                                    \
    X(ACCESS, faccessat, ANY_1 | ANY_2, (uint64_t)AT_FDCWD)                                \
    X(READ_LINK, readlinkat, ANY_1 | ANY_2 | ANY_3, (uint64_t)AT_FDCWD)                    \
    X(MAP_TABLES, mmap, ANY_1 | ANY_4, 0, 0, PROT_READ, MAP_SHARED)                        \
    X(MAKE_MEMORY, memfd_create, ANY_0, 0, MFD_CLOEXEC | MFD_ALLOW_SEALING)                \
    X(SET_SIZE, ftruncate, ANY_0 | ANY_1, 0)                                               \
    X(SEAL, fcntl, ANY_0, 0, F_ADD_SEALS, SESSION_MEMORY_SEALS)                            \
    X(MAP_MEMORY, mmap, ANY_1 | ANY_4, 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED)           \
    X(MAP_RING, mremap, ANY_0 | ANY_2, 0, 0, 0, MREMAP_MAYMOVE)                            \
    X(MAP_PRIVATE, mmap, ANY_1 | ANY_4, 0, 0, PROT_READ | PROT_WRITE, SECCOMP_MAP_PRIVATE) \
    X(UNMAP, munmap, ANY_0 | ANY_1, 0)                                                     \
    X(ADVISE, madvise, ANY_0 | ANY_1 | ANY_2, 0)                                           \
    X(HANDLER_RETURN, rt_sigreturn, ANY_0 | ANY_1 | ANY_2 | ANY_3 | ANY_4 | ANY_5, 0)
#define SECCOMP_MAP_PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define SECCOMP_USES_MAX 56

enum own_call {
#define OWN_CALL(use, call, any, ...) CALL_##use,
    OWN_CALLS(OWN_CALL)
#undef OWN_CALL
        OWN_CALL_COUNT
};
_Static_assert(OWN_CALL_COUNT < SECCOMP_USES_MAX, "a bit for each");
struct own_call_form {
    uint16_t number, any;
    uint64_t arguments[6];
};
extern const struct own_call_form own_call_forms[OWN_CALL_COUNT];

enum {
#define OWN_NUMBER(use, call, any, ...) NUMBER_##use = SYS_##call,
    OWN_CALLS(OWN_NUMBER)
#undef OWN_NUMBER
};

#define CALL_BIT(use) (UINT64_C(1) << CALL_##use)
#define ALL_CALLS ((UINT64_C(1) << OWN_CALL_COUNT) - 1)

/* Required calls of a new thread, a forked child, and an executed program: without them, it is
 * not sampled. */
#define CALLS_OF_THREAD (CALL_BIT(GETTID) | CALL_BIT(HANDLER_RETURN))
#define CALLS_OF_TIMER (CALL_BIT(TIMER_CREATE) | CALL_BIT(TIMER_SETTIME) | CALL_BIT(TIMER_DELETE))
#define CALLS_OF_WAIT (CALL_BIT(CLOCK) | CALL_BIT(FUTEX_WAKE) | CALL_BIT(FUTEX_WAIT))
#define CALLS_OF_OWN_MEMORY                                                               \
    (CALL_BIT(MAKE_MEMORY) | CALL_BIT(FILE_LIMIT) | CALL_BIT(SET_SIZE) | CALL_BIT(SEAL) | \
     CALL_BIT(STAT_FD) | CALL_BIT(MAP_MEMORY) | CALL_BIT(ADVISE) | CALL_BIT(CLOSE))
#define CALLS_OF_JOIN                                                                  \
    (CALLS_OF_THREAD | CALLS_OF_WAIT | CALLS_OF_OWN_MEMORY | CALL_BIT(PROCESS_CLOCK) | \
     CALL_BIT(GETPID) | CALL_BIT(GETPPID) | CALL_BIT(SIGACTION) | CALL_BIT(SIGPROCMASK))
#define CALLS_OF_START                                                                      \
    (CALLS_OF_JOIN | CALL_BIT(MAP_TABLES) | CALL_BIT(MAP_PRIVATE) | CALL_BIT(STACK_LIMIT) | \
     CALL_BIT(GET_TSC))

/* Whether a filter forbids any of these calls. Async-signal-safe. */
static inline bool seccomp_forbids(uint64_t calls)
{
    return load_relaxed(&process.forbidden) & calls;
}

/* Async-signal-safe. */
#define own_syscall(use, ...) \
    (seccomp_forbids(UINT64_C(1) << CALL_##use) ? -EPERM : raw_syscall(NUMBER_##use, ##__VA_ARGS__))

/* PROCESS_CLOCK, THREAD_CLOCK or CLOCK; 0: unreadable. Async-signal-safe. */
uint64_t own_clock_ns(enum own_call clock);
#define clock_ns(clock) own_clock_ns(CALL_##clock)

/* Whether the calling process has not joined itself: a vfork child, on the state of its parent, or
 * a child of a raw clone(). Async-signal-safe. */
bool process_is_another(void);

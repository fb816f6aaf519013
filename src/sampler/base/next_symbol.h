/* SPDX-License-Identifier: MIT */
/*
 * What the sampler's functions stand in front of. All are looked up at the start: the program may call
 * ours in a signal handler or a vfork child, where the dynamic linker must not be called.
 */
#pragma once

#define NEXT_SYMBOLS(X)   \
    X(pthread_create)     \
    X(thrd_create)        \
    X(close)              \
    X(closefrom)          \
    X(clone)              \
    X(prctl)              \
    X(__monstartup)       \
    X(syscall)            \
    X(pthread_getattr_np) \
    X(swapcontext)        \
    X(setcontext)         \
    X(dlclose)            \
    X(mlockall)           \
    X(setrlimit)          \
    X(prlimit)            \
    X(sigaction)          \
    X(__sigaction)        \
    X(signal)             \
    X(__sysv_signal)      \
    X(sigtimedwait)       \
    X(sigsuspend)         \
    X(signalfd)           \
    X(pselect)            \
    X(ppoll)              \
    X(__ppoll_chk)        \
    X(epoll_pwait)        \
    X(epoll_pwait2)       \
    X(execvpe)            \
    X(posix_spawn_2_2_5)  \
    X(posix_spawnp_2_2_5) \
    X(posix_spawn)        \
    X(posix_spawnp)       \
    X(system)             \
    X(popen)              \
    X(pclose)             \
    X(waitid)             \
    X(wait4)

enum next_index {
#define NEXT_INDEX(name) NEXT_INDEX_##name,
    NEXT_SYMBOLS(NEXT_INDEX)
#undef NEXT_INDEX
        NEXT_COUNT
};

/* Of the library that comes after the sampler; NULL when it has none. Not async-signal-safe before
 * next_symbol_find_all(), async-signal-safe after it. */
void *next_symbol(enum next_index index);
/* Not async-signal-safe. */
void next_symbol_find_all(void);

#define NEXT(name) ((__typeof__(&name))next_symbol(NEXT_INDEX_##name))

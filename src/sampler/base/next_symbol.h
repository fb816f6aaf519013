/* SPDX-License-Identifier: MIT */
/* The C library's functions behind the hooks. All are looked up at the start: the program may
 * call a hook in a signal handler or a vfork child, where calls of the dynamic linker are
 * forbidden. */
#pragma once

#define NEXT_SYMBOLS(X) \
    X(pthread_create)   \
    X(thrd_create)      \
    X(close)            \
    X(closefrom)        \
    X(clone)            \
    X(prctl)            \
    X(ptrace)           \
    X(__monstartup)     \
    X(syscall)          \
    X(swapcontext)      \
    X(setcontext)       \
    X(dlclose)          \
    X(sigaction)        \
    X(__sigaction)      \
    X(signal)           \
    X(__sysv_signal)    \
    X(sigtimedwait)     \
    X(signalfd)         \
    X(execvpe)          \
    X(posix_spawn)      \
    X(posix_spawnp)     \
    X(system)           \
    X(popen)            \
    X(pclose)           \
    X(waitid)           \
    X(wait4)

enum next_index {
#define NEXT_INDEX(name) NEXT_INDEX_##name,
    NEXT_SYMBOLS(NEXT_INDEX)
#undef NEXT_INDEX
        NEXT_COUNT
};

/* The function of the next library; NULL: none. Not async-signal-safe before
 * next_symbol_find_all(), async-signal-safe after it. */
void *next_symbol(enum next_index index);
/* Not async-signal-safe. */
void next_symbol_find_all(void);

#define NEXT(name) ((__typeof__(&name))next_symbol(NEXT_INDEX_##name))

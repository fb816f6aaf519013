/* SPDX-License-Identifier: MIT */
/*
 * The program's actions for all signals but the sampler's. Two of them concern it:
 *
 *     handlers on an alternate stack   ours waits until they have returned
 *     signals that are ignored         ours does not block them while it runs
 *
 * The kernel drops what is ignored when it is sent, unless the thread that it looks at blocks it: then it is pending,
 * some other thread is told, and its epoll_wait() ends with EINTR. The thread that it looks at is the one which made the
 * child that ends (SIGCHLD), or the main thread; ours would be running in it. In a program that was sent SIGURG all the
 * time 180 waits a second ended so at 9999 Hz, and one in some million calls by a child's end.
 */
#include "sampler/sampler.h"

#include "sampler/base/next_symbol.h"

#include <stddef.h>

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define IGNORED_BY_DEFAULT (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))

/* A new program handles nothing yet; what it inherits as ignored by its own choice is not known. */
static uint64_t ignored = IGNORED_BY_DEFAULT;

/* Our signal was added to the mask of the program's action for these. */
static uint64_t deferring;

uint64_t dispositions_ignored(void)
{
    return load_acquire(&ignored);
}

static bool ignores(int signal, uintptr_t handler_value)
{
    return handler_value == (uintptr_t)SIG_IGN ||
           (handler_value == (uintptr_t)SIG_DFL && BIT(signal) & IGNORED_BY_DEFAULT);
}

/* A vfork child sets actions for itself alone, while it runs on its parent's memory. */
static bool is_known(int signal)
{
    return signal >= 1 && signal <= 64 && !process_is_another();
}

/* Blocked before it can have a handler, which might leave ours by longjmp. One of ours that has begun still lets it
 * through. */
static void note_before(int signal, uintptr_t handler_value)
{
    if (!is_known(signal) || ignores(signal, handler_value))
        return;
    if (__atomic_fetch_and(&ignored, ~BIT(signal), __ATOMIC_SEQ_CST) & BIT(signal))
        signals_refresh_mask();
}

/* No longer once it has none. */
static void note_after(int signal, uintptr_t handler_value)
{
    if (!is_known(signal) || !ignores(signal, handler_value))
        return;
    if (~__atomic_fetch_or(&ignored, BIT(signal), __ATOMIC_SEQ_CST) & BIT(signal))
        signals_refresh_mask();
}

signal_handler dispositions_set_simple(signal_handler (*set)(int, signal_handler), int signal,
                                       signal_handler simple)
{
    note_before(signal, (uintptr_t)simple);
    signal_handler old = set(signal, simple);
    if (old != SIG_ERR)
        note_after(signal, (uintptr_t)simple);
    return old;
}

/*
 * Ours would run on the alternate stack too when it interrupts that handler, and the kernel's frame alone takes
 * 3.4 KiB (AVX-512), more than many such stacks have left. So our signal waits until that handler returns; the
 * program does not see that its mask holds one more.
 */
static int set_deferring(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction wanted;
    bool defers = action && (action->sa_flags & SA_ONSTACK) && process.signal != 0 &&
                  process.engine != ENGINE_NONE && !sigismember(&action->sa_mask, process.signal);
    if (defers) {
        wanted = *action;
        sigaddset(&wanted.sa_mask, process.signal);
    }
    int result = NEXT(sigaction)(signal, defers ? &wanted : action, old);
    if (result != 0)
        return result;
    uint64_t before = load_relaxed(&deferring);
    if (action)
        before = defers ? __atomic_fetch_or(&deferring, BIT(signal), __ATOMIC_RELAXED)
                        : __atomic_fetch_and(&deferring, ~BIT(signal), __ATOMIC_RELAXED);
    if (old && before & BIT(signal) && process.signal != 0)
        sigdelset(&old->sa_mask, process.signal);
    return 0;
}

int dispositions_set(int signal, const struct sigaction *action, struct sigaction *old)
{
    uintptr_t handler_value = action ? (uintptr_t)action->sa_sigaction : 0;
    if (action)
        note_before(signal, handler_value);
    int result = set_deferring(signal, action, old);
    if (action && result == 0)
        note_after(signal, handler_value);
    return result;
}

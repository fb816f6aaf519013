/* SPDX-License-Identifier: MIT */
/*
 * Threads that block every signal: liblzma, libuv, librdkafka and many other libraries make all of their
 * workers so. They must be sampled too, so the one bit of the sampler's signal never reaches the kernel:
 *
 *     the program's mask ─┬─ every other signal ──▶ kernel
 *                         └─ the sampler's ───────▶ thread->hides_block, and back into what it reads
 *
 * When that signal comes from somebody else in a thread that hides its block, the block becomes real, and
 * the signal is sent on: to another thread, to sigwait(), or to wait for its unblocking. That thread is not
 * sampled any more.
 *
 * No function here needs the C library: the program may call these from its own signal handlers.
 */
#include "sampler/sampler.h"

#include "sampler/raw.h"

#include <errno.h>

/* The C library's own, which it never lets a program block. */
#define LIBC_SIGNALS (UINT64_C(3) << 31)

static uint64_t samplers_bit(void)
{
    return process.signal ? UINT64_C(1) << (process.signal - 1) : 0;
}

static uint64_t *word_of(sigset_t *set)
{
    return (uint64_t *)(void *)set;
}

static uint64_t kernel_mask(void)
{
    uint64_t now = 0;
    raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof(now));
    return now;
}

/* One that is pending arrives at once: it must be known as hidden before. */
void masks_hide(struct thread_state *thread)
{
    uint64_t bit = samplers_bit();
    thread->usual_mask = kernel_mask();
    thread->hides_block = (thread->usual_mask & bit) != 0;
    signal_fence();
    raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, 0, sizeof(bit));
}

void masks_unhide(struct thread_state *thread)
{
    uint64_t bit = samplers_bit();
    if (thread->hides_block)
        raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bit, 0, sizeof(bit));
    thread->hides_block = false;
}

/* The part of a wanted mask that the kernel gets; whether the rest is a block to hide. In a handler of the
 * program, the kernel may block the signal already: that stays as it is. */
static uint64_t split(int how, uint64_t wanted, uint64_t bit, bool *hides_block)
{
    if (how == SIG_UNBLOCK) {
        *hides_block = *hides_block && !(wanted & bit);
        return wanted;
    }
    bool hides = wanted & bit && (*hides_block || !(kernel_mask() & bit));
    if (how == SIG_SETMASK || hides)
        *hides_block = hides;
    return wanted & ~(LIBC_SIGNALS | (hides ? bit : 0));
}

static uint64_t combine(int how, uint64_t mask, uint64_t wanted)
{
    return how == SIG_SETMASK ? wanted : how == SIG_BLOCK ? mask | wanted : mask & ~wanted;
}

/* 0 or a negative errno, as rt_sigprocmask. */
static long change(int how, const sigset_t *set, sigset_t *old)
{
    struct thread_state *thread = process_is_followed() ? thread_self : NULL;
    uint64_t bit = thread ? samplers_bit() : 0;
    bool hid_block = thread && thread->hides_block;
    bool hides_block = hid_block;
    uint64_t before = 0;
    uint64_t asked = set ? *(const uint64_t *)(const void *)set : 0;
    uint64_t wanted = set ? split(how, asked, bit, &hides_block) : 0;
    if (hides_block)
        thread->hides_block = true; /* before a pending one can arrive */
    signal_fence();
    long result =
        raw_syscall(SYS_rt_sigprocmask, how, set ? &wanted : NULL, &before, sizeof(wanted));
    if (raw_failed(result)) {
        if (thread)
            thread->hides_block = hid_block;
        return result;
    }
    if (thread && set) {
        thread->hides_block = hides_block;
        thread->usual_mask = combine(how, thread->usual_mask, asked);
    }
    if (old)
        *word_of(old) = before | (hid_block ? bit : 0);
    return 0;
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t *set,
                                                           sigset_t *old)
{
    return (int)-change(how, set, old);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    long result = change(how, set, old);
    if (result == 0)
        return 0;
    errno = (int)-result;
    return -1;
}

bool masks_defer(int signal, siginfo_t *info, void *context)
{
    struct thread_state *thread = thread_self;
    ucontext_t *interrupted = context;
    if (!thread || !thread->hides_block)
        return false;
    thread->hides_block = false;
    *word_of(&interrupted->uc_sigmask) |= UINT64_C(1) << (signal - 1);
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    if (info->si_code == SI_TKILL)
        raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info);
    else if (raw_failed(raw_syscall(SYS_rt_sigqueueinfo, pid, signal, info)))
        raw_syscall(SYS_kill, pid, signal); /* only the main thread may repeat what kill() said */
    return true;
}

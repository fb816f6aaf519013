/* SPDX-License-Identifier: MIT */
/*
 * Threads that block every signal: liblzma, libuv, librdkafka and many other libraries make all of their
 * workers so. They must be sampled too, so the one bit of the sampler's signal never reaches the kernel:
 *
 *     the program's mask ─┬─ every other signal ──▶ kernel
 *                         └─ the sampler's ───────▶ hidden, and back into what it reads
 *
 * Masks come back without passing here: a handler returns, siglongjmp() and swapcontext() restore what they
 * saved. The kernel's part tells which mask it is, so the last few are remembered, each with its hidden bit.
 *
 * A foreign signal is one of the sampler's number that the sampler did not cause. The first foreign signal in a thread
 * that hides a block makes the block real and is sent again: to another thread, to sigwait(), or to stay pending. The
 * thread is not sampled until the program unblocks the signal, or waits with a mask that does:
 *
 *     program's mask   kernel's mask   hides_block   is_blocked
 *     unblocked        unblocked       no            no
 *     blocked          unblocked       yes           no          sampled
 *     blocked          blocked         no            yes         not sampled; from mask_defer() to resume()
 *
 * lifted_avma marks a wait with a mask that unblocks the signal (sigsuspend, ppoll, …): a foreign signal during such a
 * wait runs the program's handler. ever_hid stays set; before, masks without the sampler's signal go to the kernel as
 * they are.
 *
 * No function here needs the C library: the program may call these from its own signal handlers.
 */
#include "sampler/signals/mask.h"

#include "sampler/arch/arch.h"
#include "sampler/base/identity.h"
#include "sampler/base/own_call.h"
#include "sampler/sample/own_signal.h"
#include "sampler/signals/kernel_action.h"
#include "sampler/threads/timer.h"

#include <errno.h>
#include <time.h>

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
    own_syscall(SIGPROCMASK, SIG_BLOCK, NULL, &now, sizeof(now));
    return now;
}

/* Whether the block of the sampler's signal is hidden while the kernel's mask is this one. In a vfork child
 * a mask that is not known is its own. */
static bool is_hidden_at(const struct thread_state *thread, uint64_t kernel, bool is_another)
{
    if (kernel & samplers_bit())
        return false;
    for (uint32_t i = 0; i < SAMPLER_MASKS; i++)
        if (thread->masks[i].is_known && thread->masks[i].kernel == kernel)
            return thread->masks[i].hides_block;
    return !is_another && thread->hides_block;
}

static void remember(struct thread_state *thread, uint64_t kernel, bool hides_block)
{
    uint32_t i = 0;
    while (i < SAMPLER_MASKS && !(thread->masks[i].is_known && thread->masks[i].kernel == kernel))
        i++;
    if (i == SAMPLER_MASKS)
        i = thread->next_mask++ % SAMPLER_MASKS;
    thread->masks[i] = (struct known_mask){kernel, hides_block, true};
}

/* One that is pending arrives at once: it must be known as hidden before. A retired process has nothing to hide. */
void mask_hide(struct thread_state *thread)
{
    uint64_t bit = samplers_bit();
    thread->usual_mask = kernel_mask();
    if (load_relaxed(&process.is_retired))
        return;
    thread->hides_block = (thread->usual_mask & bit) != 0;
    remember(thread, thread->usual_mask & ~bit, thread->hides_block);
    if (!thread->hides_block)
        return;
    thread->ever_hid = true;
    signal_fence();
    own_syscall(SIGPROCMASK, SIG_UNBLOCK, &bit, 0, sizeof(bit));
}

bool mask_unhide(struct thread_state *thread)
{
    uint64_t bit = samplers_bit();
    if (!thread->ever_hid || !is_hidden_at(thread, kernel_mask(), false))
        return false;
    own_syscall(SIGPROCMASK, SIG_BLOCK, &bit, 0, sizeof(bit));
    thread->hides_block = false;
    return true;
}

bool mask_block_for_exec(void)
{
    uint64_t bit = samplers_bit();
    const struct thread_state *thread = bit ? thread_self : NULL;
    if (!thread || !thread->ever_hid || !is_hidden_at(thread, kernel_mask(), process_is_another()))
        return false;
    own_syscall(SIGPROCMASK, SIG_BLOCK, &bit, 0, sizeof(bit));
    return true;
}

void mask_unblock_after_exec(void)
{
    uint64_t bit = samplers_bit();
    own_syscall(SIGPROCMASK, SIG_UNBLOCK, &bit, 0, sizeof(bit));
}

uint64_t mask_block_ours(void)
{
    uint64_t bit = samplers_bit(), before = 0;
    own_syscall(SIGPROCMASK, SIG_BLOCK, &bit, &before, sizeof(bit));
    return before;
}

void mask_restore(uint64_t mask)
{
    own_syscall(SIGPROCMASK, SIG_SETMASK, &mask, 0, sizeof(mask));
}

/* What was not sent with tgkill() goes to the process: there it cannot be merged with one of ours. */
static void send_on(int signal, siginfo_t *info)
{
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    if (info->si_code == SI_TKILL) {
        if (raw_failed(raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info)))
            raw_syscall(SYS_tgkill, pid, tid, signal);
    } else if (raw_failed(raw_syscall(SYS_rt_sigqueueinfo, pid, signal, info)))
        raw_syscall(SYS_kill, pid, signal); /* only the main thread may repeat what kill() said */
}

/* Takes away what is pending of the sampler's own, and the first one of somebody else's: true. */
static bool take_pending(siginfo_t *info)
{
    uint64_t bit = samplers_bit();
    const struct timespec no_time = {0};
    do
        if (raw_failed(raw_syscall(SYS_rt_sigtimedwait, &bit, info, &no_time, sizeof(bit))))
            return false;
    while (own_signal_is_ours(info));
    return true;
}

/* Not on an alternate stack: that is too small for a sample. */
static bool is_on_own_stack(const struct thread_state *thread)
{
    uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    return sp >= thread->stack_start_avma && sp < thread->stack_end_avma;
}

/* The kernel's mask lacks the signal again, by the program's wish or because nothing foreign is pending. */
static void resume(struct thread_state *thread)
{
    thread->is_blocked = false;
    timer_start(thread);
}

/* Of other senders, a signal below SIGRTMIN is pending at most twice: for the thread and for the process. */
void mask_retire(struct thread_state *thread)
{
    siginfo_t theirs[2];
    uint32_t count = 0;
    mask_unhide(thread);
    thread->is_blocked = false;
    if (!(kernel_mask() & samplers_bit()))
        return;
    while (count < 2 && take_pending(&theirs[count]))
        count++;
    for (uint32_t i = 0; i < count; i++)
        send_on(process.signal, &theirs[i]);
}

static uint64_t combine(int how, uint64_t mask, uint64_t wanted)
{
    return how == SIG_SETMASK ? wanted : how == SIG_BLOCK ? mask | wanted : mask & ~wanted;
}

/* The sampler's signal is in the wanted mask, or was in one before. In a handler of the program, the kernel
 * may block it already: that stays as it is. A vfork child has a mask, but no state, of its own: there the
 * kernel gets the truth. */
static long change_hidden(struct thread_state *thread, int how, uint64_t asked, sigset_t *old)
{
    uint64_t bit = samplers_bit();
    uint64_t before = kernel_mask();
    bool is_another = process_is_another();
    bool hid_block = is_hidden_at(thread, before, is_another);
    uint64_t shown = combine(how, before | (hid_block ? bit : 0), asked) & ~KERNEL_NEVER_BLOCKED;
    uint64_t wanted = shown;
    if (is_another)
        thread = NULL;
    if (thread && !(before & bit) && !load_relaxed(&process.is_retired))
        wanted &= ~bit;
    bool hides_block = (shown & ~wanted) != 0;
    if (thread) {
        remember(thread, before, hid_block);
        remember(thread, wanted, hides_block);
        thread->hides_block = hid_block || hides_block; /* before a pending one can arrive */
        thread->ever_hid |= hides_block;
        thread->usual_mask = shown;
    }
    signal_fence();
    long result = raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &wanted, old, sizeof(wanted));
    if (thread)
        thread->hides_block = hides_block;
    if (old && !raw_failed(result) && hid_block)
        *word_of(old) |= bit;
    if (thread && thread->is_blocked && !(wanted & bit))
        resume(thread);
    return result;
}

/* 0 or a negative errno, as rt_sigprocmask. */
static long change(int how, const sigset_t *set, sigset_t *old)
{
    struct thread_state *thread = process.signal ? thread_self : NULL;
    uint64_t asked = set ? *(const uint64_t *)(const void *)set & ~LIBC_SIGNALS : 0;
    bool is_valid = how == SIG_BLOCK || how == SIG_UNBLOCK || how == SIG_SETMASK;
    if (thread && (asked & samplers_bit() || thread->ever_hid) && (is_valid || !set))
        return change_hidden(thread, set ? how : SIG_BLOCK, asked, old);
    long result = raw_syscall(SYS_rt_sigprocmask, how, set ? &asked : NULL, old, sizeof(asked));
    if (thread && set && !raw_failed(result))
        thread->usual_mask = combine(how, thread->usual_mask, asked);
    return result;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)-change(how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return raw_told(change(how, set, old));
}

int sigsetmask(int mask)
{
    sigset_t set, old;
    *word_of(&set) = (uint32_t)mask;
    long result = change(SIG_SETMASK, &set, &old);
    return raw_failed(result) ? raw_told(result) : (int)*word_of(&old);
}

/* The stack pointer of the wait lies below the frame of its hook, unless a handler jumped out of the wait. */
struct thread_state *mask_lift(const sigset_t *mask, void *frame)
{
    uint64_t bit = samplers_bit();
    struct thread_state *thread = bit && mask ? thread_self : NULL;
    if (!thread || !thread->ever_hid || *(const uint64_t *)(const void *)mask & bit ||
        process_is_another())
        return NULL;
    thread->lifted_avma = (uint64_t)(uintptr_t)frame;
    signal_fence();
    return thread;
}

void mask_lower(struct thread_state *thread)
{
    signal_fence();
    if (thread)
        thread->lifted_avma = 0;
}

/* The handler runs before the system call returns: at that moment nothing of this number can be pending for the
 * thread, so the signal cannot be merged with one of the sampler's. */
static bool deliver_under(const sigset_t *mask, siginfo_t *info)
{
    uint64_t before = 0;
    if (raw_failed(own_syscall(SIGPROCMASK, SIG_SETMASK, mask, &before, sizeof(before)))) {
        send_on(process.signal, info);
        return false;
    }
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, process.signal, info);
    mask_restore(before);
    return true;
}

/* A signal of the sampler that is pending would end the wait without the program's handler. */
bool mask_deliver_pending(struct thread_state *thread, const sigset_t *mask)
{
    siginfo_t info;
    if (!thread || !thread->is_blocked || !is_on_own_stack(thread))
        return false;
    if (!take_pending(&info)) {
        mask_hide(thread);
        resume(thread);
        return false;
    }
    if (!deliver_under(mask, &info))
        return false;
    mask_lower(thread);
    return true;
}

/* In the system call of the wait. Before that call, a signal that ran the program's handler would not end the wait. */
static bool is_lifted(const struct thread_state *thread, const ucontext_t *interrupted)
{
    uint64_t sp = arch_sp(interrupted);
    return thread->lifted_avma && sp <= thread->lifted_avma && thread->lifted_avma - sp < 4096 &&
           arch_leaves_syscall(interrupted);
}

bool mask_hides_block_at(const ucontext_t *interrupted)
{
    const struct thread_state *thread = thread_self;
    uint64_t kernel = *(const uint64_t *)(const void *)&interrupted->uc_sigmask;
    return thread && is_hidden_at(thread, kernel, false) && !is_lifted(thread, interrupted);
}

bool mask_defer(int signal, siginfo_t *info, void *context)
{
    struct thread_state *thread = thread_self;
    ucontext_t *interrupted = context;
    if (!mask_hides_block_at(interrupted))
        return false;
    thread->hides_block = false;
    thread->is_blocked = true;
    timer_stop(thread);
    *word_of(&interrupted->uc_sigmask) |= UINT64_C(1) << (signal - 1);
    send_on(signal, info);
    return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * Threads that block every signal are common: the workers of liblzma, libuv and librdkafka. Such
 * threads are sampled too, because the bit of the sampler's signal never reaches the kernel:
 *
 *     the program's mask ─┬─ all other signals ──────▶ kernel
 *                         └─ the sampler's signal ───▶ hidden; added to each mask read later
 *
 * A handler's return, siglongjmp() and swapcontext() restore masks without these functions. The
 * kernel's mask identifies the restored one: the last SAMPLER_MASKS masks are kept, each with the
 * hidden bit.
 *
 * A foreign signal has the sampler's number and another sender. The first foreign signal in a
 * thread with a hidden block makes the block real and is sent again: to another thread, to
 * sigwait(), or to stay pending. The thread is not sampled until the program unblocks the signal:
 *
 *     program's mask   kernel's mask   hides_block   is_blocked
 *     unblocked        unblocked       no            no
 *     blocked          unblocked       yes           no          sampled
 *     blocked          blocked         no            yes         mask_defer() to resume()
 *
 * sigsuspend(), ppoll() and similar waits have no hook. A wait that unblocks the signal may end
 * with EINTR without a run of the program's handler: for a sample that became pending under a
 * real block, and for the foreign signal that makes a hidden block real. The next wait delivers
 * the foreign signal.
 *
 * ever_hid stays set; before, masks without the sampler's signal go to the kernel unchanged.
 *
 * The functions here work without the C library: the program may call the hooks in signal
 * handlers.
 */
#include "sampler/signals/mask.h"

#include "sampler/sample/own_signal.h"
#include "sampler/signals/kernel_action.h"
#include "sampler/threads/timer.h"

#include <time.h>

/* Reserved by the C library: removed from the program's masks. */
#define LIBC_SIGNALS (UINT64_C(3) << 31)

static uint64_t samplers_bit(void)
{
    return process.signal ? SIGNAL_BIT(process.signal) : 0;
}

static uint64_t kernel_mask(void)
{
    return kernel_mask_change(SIG_BLOCK, 0);
}

/* Whether the program blocks the sampler's signal, by a hidden block, while the kernel has this
 * mask. In a vfork child a mask without an entry is the child's. */
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

/* A pending signal arrives at once, so the block is noted before. A retired process hides
 * nothing. */
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
    kernel_mask_change(SIG_UNBLOCK, bit);
}

bool mask_unhide(struct thread_state *thread)
{
    if (!thread->ever_hid || !is_hidden_at(thread, kernel_mask(), false))
        return false;
    kernel_mask_change(SIG_BLOCK, samplers_bit());
    thread->hides_block = false;
    return true;
}

uint64_t mask_block_ours(void)
{
    return kernel_mask_change(SIG_BLOCK, samplers_bit());
}

/* A signal sent by other means than tgkill() goes to the process: no sample is pending there to
 * be merged with. */
static void send_on(int signal, siginfo_t *info)
{
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    if (info->si_code == SI_TKILL) {
        if (raw_failed(raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info)))
            raw_syscall(SYS_tgkill, pid, tid, signal);
    } else if (raw_failed(raw_syscall(SYS_rt_sigqueueinfo, pid, signal, info)))
        raw_syscall(SYS_kill, pid, signal); /* rt_sigqueueinfo(2) refuses si_code >= 0 */
}

/* Removes pending samples, and the first pending foreign signal: then true. */
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

/* The program unblocks the signal. */
static void resume(struct thread_state *thread)
{
    thread->is_blocked = false;
    timer_start(thread);
}

/* At most two foreign signals below SIGRTMIN are pending: for the thread and for the process. */
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

/* For masks with the sampler's signal, and for all masks after the first. In a handler of the
 * program the kernel may block the signal already: the block stays. A vfork child has its own
 * mask, but shares its parent's state: the kernel gets the mask unchanged. */
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
        thread->hides_block = hid_block || hides_block; /* before a pending signal arrives */
        thread->ever_hid |= hides_block;
        thread->usual_mask = shown;
    }
    signal_fence();
    long result = raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &wanted, old, sizeof(wanted));
    if (thread)
        thread->hides_block = hides_block;
    if (old && !raw_failed(result) && hid_block)
        sigset_assign(old, sigset_word(old) | bit);
    if (thread && thread->is_blocked && !(wanted & bit))
        resume(thread);
    return result;
}

/* 0 or a negative errno, as rt_sigprocmask. */
static long change(int how, const sigset_t *set, sigset_t *old)
{
    struct thread_state *thread = process.signal ? thread_self : NULL;
    uint64_t asked = set ? sigset_word(set) & ~LIBC_SIGNALS : 0;
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

bool mask_hides_block_at(const ucontext_t *interrupted)
{
    const struct thread_state *thread = thread_self;
    return thread && is_hidden_at(thread, sigset_word(&interrupted->uc_sigmask), false);
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
    sigset_assign(&interrupted->uc_sigmask,
                  sigset_word(&interrupted->uc_sigmask) | SIGNAL_BIT(signal));
    send_on(signal, info);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* From the signal to a record: thread and weight. */
#include "sampler/sample/sample.h"

#include "sampler/arch/arch.h"
#include "sampler/sample/own_signal.h"
#include "sampler/sample/perf_trap.h"
#include "sampler/sample/walk.h"

/* The program is crashing: its crash handler runs on a possibly damaged stack. */
static bool is_crashing(const struct thread_state *thread, const ucontext_t *context)
{
    uint64_t mask = *(const uint64_t *)(const void *)&context->uc_sigmask;
    uint64_t crash = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1);
    return (mask & crash & ~thread->usual_mask) != 0;
}

/*
 * The kernel's share under perf-trap. The timer measures the thread's CPU time since its last
 * expiry; time not covered by samples of user code was spent in the kernel. The timer is driven by
 * the tick, so it fires at the place of use: at the end of a system call, the share is the time
 * since the last expiry. Page faults look like user code, and get the excess over a reserve for
 * system calls. The reserve also absorbs the phase difference of samples and ticks. Of a program
 * with 23 % in read(), 59 % in page faults and 8 % in user code, the three functions got 20 to 23,
 * 63 and 13 to 16 %; 33, 50 and 15 % when system calls took the whole balance, and page faults
 * waited for 40 ms of it.
 */
static int64_t share_of_balance_ns(int64_t balance_ns, int64_t elapsed_ns, bool leaves_syscall)
{
    int64_t interval_ns = (int64_t)process.tables->header.kernel_interval_ns;
    int64_t period_ns = (int64_t)process.tables->header.period_ns;
    int64_t reserve_ns = interval_ns / 2 > 2 * period_ns ? interval_ns / 2 : 2 * period_ns;
    if (!leaves_syscall)
        return balance_ns < 2 * reserve_ns ? 0 : balance_ns - reserve_ns;
    if (balance_ns < period_ns)
        return 0;
    return balance_ns < elapsed_ns ? balance_ns : elapsed_ns;
}

static uint64_t kernel_share_ns(struct thread_state *thread, uint64_t elapsed_ns,
                                bool leaves_syscall)
{
    const struct tables_header *header = &process.tables->header;
    int64_t least_ns = -(int64_t)(header->kernel_interval_ns + 2 * header->period_ns);
    thread->unseen_ns += (int64_t)elapsed_ns - (int64_t)thread->user_ns;
    thread->user_ns = 0;
    if (thread->unseen_ns < least_ns)
        thread->unseen_ns = least_ns;
    int64_t share_ns = share_of_balance_ns(thread->unseen_ns, (int64_t)elapsed_ns, leaves_syscall);
    thread->unseen_ns -= share_ns;
    return (uint64_t)share_ns;
}

static uint64_t expiries(const siginfo_t *info)
{
    return 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
}

/* Of a period of the engine's own; 0 for a look at the kernel's share. */
static uint64_t engine_weight_ns(const siginfo_t *info)
{
    uint64_t period_ns = process.tables->header.period_ns;
    if (!own_signal_is_timer(info))
        return period_ns;
    return process.engine == ENGINE_TIMER ? expiries(info) * period_ns : 0;
}

/* The weight of this signal; 0: no record. */
static uint64_t weigh(struct thread_state *thread, const siginfo_t *info, const ucontext_t *context,
                      uint8_t *flags)
{
    uint64_t weight_ns = engine_weight_ns(info);
    if (!own_signal_is_timer(info)) {
        thread->user_ns += weight_ns;
        return weight_ns;
    }
    if (thread->skips_interval) {
        thread->skips_interval = false;
        thread->user_ns = 0;
        return 0;
    }
    bool leaves_syscall = arch_leaves_syscall(context);
    if (process.engine == ENGINE_TIMER) {
        *flags = leaves_syscall ? RECORD_KERNEL : 0;
        return weight_ns;
    }
    *flags = RECORD_KERNEL;
    return kernel_share_ns(thread, expiries(info) * process.tables->header.kernel_interval_ns,
                           leaves_syscall);
}

static void count_own_time(struct thread_state *thread, uint64_t ticks)
{
    thread->slot->handler_ticks[handler_bucket(ticks)]++;
    if (ticks > thread->slot->handler_max_ticks)
        thread->slot->handler_max_ticks = ticks;
}

/* The smaller of the last two costs: during a single long sample the thread may have lost the
 * processor. */
static void note_cost(struct thread_state *thread, uint64_t start_ticks, uint64_t end_ticks)
{
    uint64_t cost_ticks = end_ticks - start_ticks;
    uint64_t before_ticks = thread->last_cost_ticks;
    thread->usual_cost_ticks = cost_ticks < before_ticks ? cost_ticks : before_ticks;
    thread->last_cost_ticks = cost_ticks;
    thread->last_end_ticks = end_ticks;
    count_own_time(thread, cost_ticks);
}

static void sample(struct thread_state *thread, const siginfo_t *info, const ucontext_t *context)
{
    uint64_t start_ticks = arch_ticks();
    uint8_t flags = 0;
    if (load_relaxed(&process.tables->header.quiet)) {
        thread->skips_interval = true;
        return;
    }
    uint64_t weight_ns = weigh(thread, info, context, &flags);
    if (weight_ns == 0)
        return;
    thread->accounted_ns += weight_ns;
    /* The progress rule: a program with slow samples still gets two thirds of the time. */
    if (start_ticks - thread->last_end_ticks < 2 * thread->usual_cost_ticks) {
        thread->merged_ns += weight_ns;
        thread->slot->merged++;
        return;
    }
    if (is_crashing(thread, context)) {
        thread->slot->lost_crashing++;
        thread->slot->lost_weight_ns += weight_ns;
        return;
    }
    weight_ns += thread->merged_ns;
    thread->merged_ns = 0;
    thread->samples++;
    if (!walk_record(thread, context, start_ticks, weight_ns, flags)) {
        thread->slot->lost_ring_full++;
        thread->slot->lost_weight_ns += weight_ns;
    }
    note_cost(thread, start_ticks, arch_ticks());
}

/* Each occurrence is a sample, with its own stack: none is merged into the next one. Occurrences in
 * the handler, such as page faults of the ring, are not the program's. */
static void sample_event(struct thread_state *thread, const siginfo_t *info,
                         const ucontext_t *context)
{
    const struct tables_header *header = &process.tables->header;
    uint64_t start_ticks = arch_ticks();
    if (load_relaxed(&header->quiet) || perf_trap_is_late(info))
        return;
    if (is_crashing(thread, context)) {
        thread->slot->lost_crashing++;
        return;
    }
    thread->samples++;
    if (!walk_record(thread, context, start_ticks, header->event_weight, 0))
        thread->slot->lost_ring_full++;
    count_own_time(thread, arch_ticks() - start_ticks);
}

/* No reader for a record: the time is only counted. */
static void skip(struct thread_state *thread, const siginfo_t *info)
{
    uint64_t weight_ns = engine_weight_ns(info);
    if (weight_ns == 0)
        return;
    thread->user_ns += weight_ns;
    thread->accounted_ns += weight_ns;
    thread->slot->lost_away++;
    thread->slot->lost_weight_ns += weight_ns;
}

/* The signal has interrupted a hook that writes to the ring: the next sample gets the weight. */
static void postpone(struct thread_state *thread, const siginfo_t *info)
{
    uint64_t weight_ns = engine_weight_ns(info);
    thread->user_ns += weight_ns;
    thread->accounted_ns += weight_ns;
    thread->merged_ns += weight_ns;
    thread->slot->merged += weight_ns != 0;
}

void sample_take(const siginfo_t *info, const ucontext_t *context)
{
    if (!process_is_sampled())
        return;
    struct thread_state *thread = thread_self;
    if (!thread) {
        add_relaxed(&process.slot->lost_no_thread, 1);
        return;
    }
    uint32_t before = exchange_acquire(&thread->busy, BUSY_HANDLER);
    if (before == BUSY_HANDLER) {
        add_relaxed(&thread->slot->lost_busy, 1);
        return;
    }
    bool is_away = launcher_is_away(arch_ticks());
    bool is_event = process.tables->header.event != RECORD_EVENT_CPU;
    if (is_event && before == BUSY_HOOK)
        thread->slot->lost_busy++;
    else if (is_event && is_away)
        thread->slot->lost_away++;
    else if (is_event)
        sample_event(thread, info, context);
    else if (is_away)
        skip(thread, info);
    else if (before == BUSY_HOOK)
        postpone(thread, info);
    else
        sample(thread, info, context);
    store_release(&thread->busy, before);
}

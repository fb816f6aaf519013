/* SPDX-License-Identifier: MIT */
/*
 * One signal number, two users. The kernel holds our handler for good; the program's own action for that
 * number is kept here, is what sigaction() and its relatives show and change, and is what happens for
 * every such signal that is not one of ours: int3, raise(), kill(), another timer.
 */
#include "sampler/sampler.h"

#include "sampler/base/next_symbol.h"
#include "sampler/seccomp/seccomp.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

/* As the kernel knows it: the program's action, with its mask as one word. */
struct action {
    union {
        void (*simple)(int);
        void (*full)(int, siginfo_t *, void *);
        uintptr_t value; /* SIG_DFL, SIG_IGN */
    } handler;
    uint64_t mask;
    int flags;
    void (*restorer)(void);
};

/* The kernel's own struct. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* What it keeps of flags and masks that it is given. */
#define FLAGS_KEPT 0xdc000c07
#define FLAG_RESTORER 0x04000000
#define NEVER_BLOCKED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

/* Two places: readers (handlers) use the current one, a writer fills the other and flips. */
static struct action actions[2];
static uint32_t current_action;
/* Writers only, with every signal blocked; in memory that fork wipes, so that a child never inherits it
 * taken. */
static uint32_t *writer_busy;
/* In the same memory: how many threads show the signal as ignored. */
static uint32_t *showing;

/* Our handler as the kernel has it, with the C library's way back from it. */
static struct kernel_action installed;
static void (*restorer)(void);

static uint64_t mask_word(const sigset_t *set)
{
    return *(const uint64_t *)(const void *)set;
}

static struct action read_action(void)
{
    return actions[load_acquire(&current_action)];
}

static uint64_t set_mask(uint64_t mask)
{
    uint64_t old = 0;
    own_syscall(SIGPROCMASK, SIG_SETMASK, &mask, &old, sizeof(mask));
    return old;
}

/* Returns the mask to go back to. */
static uint64_t begin_writing(void)
{
    uint64_t mask = set_mask(~UINT64_C(0));
    while (exchange_acquire(writer_busy, 1))
        own_syscall(YIELD);
    return mask;
}

static void end_writing(uint64_t mask)
{
    store_release(writer_busy, 0);
    set_mask(mask);
}

static struct action write_action(const struct action *action)
{
    uint64_t mask = begin_writing();
    struct action old = read_action();
    if (action) {
        uint32_t next = !load_relaxed(&current_action);
        actions[next] = *action;
        store_release(&current_action, next); /* publishes the action */
    }
    end_writing(mask);
    return old;
}

/* As the kernel will have it when the C library has passed it on. */
static struct action action_from(const struct sigaction *from)
{
    struct action action = {.mask = mask_word(&from->sa_mask) & ~NEVER_BLOCKED,
                            .flags = (from->sa_flags & (int)FLAGS_KEPT) | FLAG_RESTORER,
                            .restorer = restorer};
    action.handler.full = from->sa_sigaction;
    return action;
}

static struct action action_from_kernel(const struct kernel_action *from)
{
    struct action action = {.mask = from->mask & ~NEVER_BLOCKED,
                            .flags = (int)(from->flags & FLAGS_KEPT),
                            .restorer = from->restorer};
    action.handler.full = from->handler;
    return action;
}

static struct kernel_action action_to_kernel(const struct action *action)
{
    return (struct kernel_action){.handler = action->handler.full,
                                  .flags = (unsigned)action->flags,
                                  .restorer = action->restorer,
                                  .mask = action->mask};
}

static void action_to(const struct action *action, struct sigaction *to)
{
    *to = (struct sigaction){0};
    *(uint64_t *)(void *)&to->sa_mask = action->mask;
    to->sa_flags = action->flags;
    to->sa_sigaction = action->handler.full;
    to->sa_restorer = action->restorer;
}

static long kernel_sigaction(int signal, const struct kernel_action *action,
                             struct kernel_action *old)
{
    return own_syscall(SIGACTION, signal, action, old, sizeof(action->mask));
}

/* By the name under which no sanitizer stands before the C library's: its functions complain before its own
 * initialisation, and the thread sanitizer's handlers run long after the signal. */
int __sigaction(int, const struct sigaction *, struct sigaction *);

static int libc_sigaction(int signal, const struct sigaction *action)
{
    __typeof__(&__sigaction) function = NEXT(__sigaction);
    return function ? function(signal, action, NULL) : NEXT(sigaction)(signal, action, NULL);
}

/* Blocked meanwhile is whatever may have a handler, also the C library's own signal of pthread_cancel(), which
 * sigfillset() would leave out: a handler that leaves by longjmp would take us with it. */
static uint64_t handler_mask(void)
{
    return ~(dispositions_ignored() | NEVER_BLOCKED);
}

/* Where the signal is ignored it stays so, also when another thread begins to show it as ignored meanwhile. */
void signals_refresh_mask(void)
{
    struct kernel_action now;
    if (!process.signal)
        return;
    uint64_t mask = begin_writing();
    if (!raw_failed(kernel_sigaction(process.signal, NULL, &now)) && now.handler == handler) {
        now.mask = handler_mask();
        kernel_sigaction(process.signal, &now, NULL);
    }
    end_writing(mask);
}

bool signals_install(int signal)
{
    /* Words behind process_alive, in the same wiped page. */
    writer_busy = process_alive + 1;
    showing = process_alive + 3;
    struct sigaction ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    *(uint64_t *)(void *)&ours.sa_mask = handler_mask();
    struct kernel_action before;
    if (raw_failed(kernel_sigaction(signal, NULL, &before)))
        return false;
    if (before.handler != handler) {
        struct action action = action_from_kernel(&before);
        write_action(&action);
    }
    process.signal = signal;
    if (libc_sigaction(signal, &ours) == 0) {
        kernel_sigaction(signal, NULL, &installed);
        restorer = installed.restorer;
        return true;
    }
    process.signal = 0;
    return false;
}

void signals_uninstall(void)
{
    struct action action = read_action();
    struct kernel_action before = action_to_kernel(&action);
    int signal = process.signal;
    process.signal = 0;
    if (signal)
        kernel_sigaction(signal, &before, NULL);
}

bool signals_ignore(void)
{
    struct action ignored = {.handler.simple = SIG_IGN};
    struct kernel_action wanted = {.handler = ignored.handler.full};
    return !raw_failed(kernel_sigaction(process.signal, &wanted, NULL));
}

void signals_heed(void)
{
    kernel_sigaction(process.signal, &installed, NULL);
    signals_refresh_mask();
}

/* Threads may execute several programs at once, of which all but one fail: the last one hides it again. A vfork child
 * does both for itself alone, in memory that is its parent's. */
bool signals_show_ignored(void)
{
    struct kernel_action now;
    if (!process.signal || read_action().handler.value != (uintptr_t)SIG_IGN)
        return false;
    bool counts = !process_is_another();
    uint64_t mask = begin_writing();
    bool is_shown =
        (counts && *showing > 0) || (!raw_failed(kernel_sigaction(process.signal, NULL, &now)) &&
                                     now.handler == handler && signals_ignore());
    *showing += counts && is_shown;
    end_writing(mask);
    return is_shown;
}

void signals_hide_ignored(void)
{
    bool counts = !process_is_another();
    uint64_t mask = begin_writing();
    bool is_last = !counts || --*showing == 0;
    if (is_last)
        kernel_sigaction(process.signal, &installed, NULL);
    end_writing(mask);
    if (is_last)
        signals_refresh_mask();
}

/* int3 and friends cannot be ignored or blocked: the kernel kills. (A SIGPROF from the kernel is only an
 * interval timer's.) */
static bool is_forced(int signal, const siginfo_t *info)
{
    return signal == SIGTRAP && info->si_code > 0 && info->si_code != SI_USER;
}

/* Death by the default action, with the program's registers, its signal information and its core. */
static void deliver_default(int signal, siginfo_t *info)
{
    const struct kernel_action standard = {0};
    raw_syscall(SYS_rt_sigaction, signal, &standard, NULL, sizeof(standard.mask));
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    /* Blocked while we run; strikes when this handler returns. */
    raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info);
}

static void deliver_to_program(const struct action *action, int signal, siginfo_t *info,
                               void *context)
{
    ucontext_t *interrupted = context;
    uint64_t mask = mask_word(&interrupted->uc_sigmask) | action->mask;
    if (!(action->flags & SA_RESTART))
        syscall_restart_cancel(interrupted);
    if (!(action->flags & SA_NODEFER))
        mask |= UINT64_C(1) << (signal - 1);
    set_mask(mask);
    if (action->flags & SA_SIGINFO)
        action->handler.full(signal, info, context);
    else
        action->handler.simple(signal);
    set_mask(~UINT64_C(0));
}

void signals_deliver(int signal, siginfo_t *info, void *context)
{
    bool forced = is_forced(signal, info);
    if (!forced && mask_defer(signal, info, context))
        return;
    struct action action = read_action();
    if (action.handler.value == (uintptr_t)SIG_IGN && !forced)
        return;
    if (action.handler.value == (uintptr_t)SIG_IGN || action.handler.value == (uintptr_t)SIG_DFL ||
        (forced && mask_hides_block_at(context))) {
        deliver_default(signal, info);
        return;
    }
    if (action.flags & (int)SA_RESETHAND) {
        struct action standard = action;
        standard.handler.value = (uintptr_t)SIG_DFL;
        write_action(&standard);
    }
    deliver_to_program(&action, signal, info, context);
}

/* A vfork child sets actions for itself alone, while it runs on its parent's memory. */
static bool is_ours(int signal)
{
    return signal == process.signal && signal != 0 && process.engine != ENGINE_NONE &&
           !process_is_another();
}

/* In a vfork child the kernel shows the handler of its parent. */
static int set_action_of_another(int signal, const struct sigaction *action, struct sigaction *old)
{
    int result = dispositions_set(signal, action, old);
    if (result == 0 && old && old->sa_sigaction == handler) {
        struct action inherited = read_action();
        action_to(&inherited, old);
    }
    return result;
}

__attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction *action,
                                                     struct sigaction *old)
{
    if (!is_ours(signal))
        return set_action_of_another(signal, action, old);
    struct action wanted;
    if (action)
        wanted = action_from(action);
    struct action before = write_action(action ? &wanted : NULL);
    if (old)
        action_to(&before, old);
    return 0;
}

bool signals_are_set_by(long number, int signal, long mask_bytes)
{
    return number == SYS_rt_sigaction && mask_bytes == sizeof(uint64_t) && is_ours(signal);
}

/* The kernel finds out what is no memory: it reads what it then refuses to do to SIGKILL, and writes what we replace. */
long signals_set_bare(const struct kernel_action *given, struct kernel_action *old)
{
    long result = raw_syscall(SYS_rt_sigaction, process.signal, NULL, old, sizeof(old->mask));
    if (given && !raw_failed(result) &&
        raw_syscall(SYS_rt_sigaction, SIGKILL, given, NULL, sizeof(given->mask)) == -EFAULT)
        result = -EFAULT;
    if (raw_failed(result))
        return result;
    struct action wanted;
    if (given)
        wanted = action_from_kernel(given);
    struct action before = write_action(given ? &wanted : NULL);
    if (old)
        *old = action_to_kernel(&before);
    return 0;
}

/* signal() and __sysv_signal() differ in the flags they set. */
static signal_handler set_simple(signal_handler simple, int flags, uint64_t mask)
{
    struct action wanted = {.mask = mask, .flags = flags | FLAG_RESTORER, .restorer = restorer};
    wanted.handler.simple = simple;
    struct action before = write_action(&wanted);
    return before.handler.simple;
}

/* The C library's own answer; in a vfork child it names our handler. */
static signal_handler translate(signal_handler old)
{
    union {
        signal_handler simple;
        void (*full)(int, siginfo_t *, void *);
    } ours = {.full = handler};
    return old == ours.simple ? read_action().handler.simple : old;
}

static bool is_refused(signal_handler simple)
{
    if (simple != SIG_ERR)
        return false;
    errno = EINVAL;
    return true;
}

__attribute__((visibility("default"))) signal_handler signal(int number, signal_handler simple)
{
    if (is_ours(number))
        return is_refused(simple) ? SIG_ERR
                                  : set_simple(simple, SA_RESTART, UINT64_C(1) << (number - 1));
    return translate(dispositions_set_simple(NEXT(signal), number, simple));
}

/* signal() of programs that are compiled as strict ISO C (-std=c11) or with _XOPEN_SOURCE. */
__attribute__((visibility("default"))) signal_handler __sysv_signal(int number,
                                                                    signal_handler simple)
{
    if (is_ours(number))
        return is_refused(simple) ? SIG_ERR : set_simple(simple, (int)SA_RESETHAND | SA_NODEFER, 0);
    return translate(dispositions_set_simple(NEXT(__sysv_signal), number, simple));
}

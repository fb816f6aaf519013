/* SPDX-License-Identifier: MIT */
#include "sampler/signals/program_action.h"

#include "sampler/signals/kernel_action.h"

/* Handlers read the current entry without a lock; a writer fills the other entry and flips. */
static struct action actions[2];
static uint32_t current_action;

static void (*libc_restorer)(void);

/* A handler that interrupts the owner would wait for ever, so the owner blocks every signal. fork()
 * wipes the lock's memory: a child never inherits a taken lock. */
static uint64_t lock(void)
{
    uint64_t mask = kernel_mask_change(SIG_SETMASK, ~UINT64_C(0));
    while (exchange_acquire(process_alive + WIPED_ACTION_LOCK, 1))
        own_syscall(YIELD);
    return mask;
}

static void unlock(uint64_t mask)
{
    store_release(process_alive + WIPED_ACTION_LOCK, 0);
    kernel_mask_change(SIG_SETMASK, mask);
}

struct action program_action_read(void)
{
    return actions[load_acquire(&current_action)];
}

struct action program_action_write(const struct action *action)
{
    uint64_t mask = lock();
    struct action old = program_action_read();
    if (action) {
        uint32_t next = !load_relaxed(&current_action);
        actions[next] = *action;
        store_release(&current_action, next); /* publishes the action */
    }
    unlock(mask);
    return old;
}

void program_action_set_restorer(void (*restorer)(void))
{
    libc_restorer = restorer;
}

struct action action_from_libc(const struct sigaction *from)
{
    struct action action = {.mask = sigset_word(&from->sa_mask) & ~KERNEL_NEVER_BLOCKED,
                            .flags = from->sa_flags & (int)KERNEL_ACTION_FLAGS};
    action.handler.full = from->sa_sigaction;
    return action;
}

void action_to_libc(const struct action *action, struct sigaction *to)
{
    *to = (struct sigaction){0};
    sigset_assign(&to->sa_mask, action->mask);
    to->sa_flags = action->flags;
    to->sa_sigaction = action->handler.full;
    to->sa_restorer = libc_restorer;
}

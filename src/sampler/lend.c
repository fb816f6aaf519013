/* SPDX-License-Identifier: MIT */
/*
 * system() and popen() give their shell what `environ` says, and there is no other way to tell them. So while
 * one of them runs, `environ` says what a new program gets. Threads may be in several at once: the first
 * lends it, the last takes it back, unless the program has set another one meanwhile. A shell may run for long, and
 * what another thread changes is not to be lost with what was lent: it gets its own first (clearenv() needs none).
 */
#include "sampler/exec.h"

#include "sampler/real.h"
#include "sampler/sandbox.h"

#include <stdlib.h>
#include <unistd.h>

static char **own;
static uint32_t borrowers;
static __thread uint32_t lends_here; /* how often the calling thread does so */

/* Behind process_alive, in memory that fork wipes: a child never inherits it taken. */
static uint32_t *lock_taken(void)
{
    uint32_t *lock = process_alive + 2;
    while (exchange_acquire(lock, 1))
        own_syscall(YIELD);
    return lock;
}

bool environment_lend(void)
{
    size_t bytes = inject_bytes(environ);
    if (bytes == 0 || bytes > SAMPLER_LENT_BYTES)
        return false;
    uint32_t *lock = lock_taken();
    if (borrowers++ == 0) {
        own = environ;
        environ = inject_into(process.lent, environ, inject_wants_children());
    }
    lends_here++;
    store_release(lock, 0);
    return true;
}

void environment_take_back(void)
{
    uint32_t *lock = lock_taken();
    lends_here--;
    if (--borrowers == 0 && environ == process.lent)
        environ = own;
    store_release(lock, 0);
}

/* The threads that had lent it are none of the child's. A C library whose system() forks is about to use it. */
void environment_take_back_after_fork(void)
{
    borrowers = lends_here;
    if (borrowers == 0 && environ == process.lent)
        environ = own;
}

static void environment_be_own(void)
{
    if (!process.lent || environ != process.lent)
        return;
    uint32_t *lock = lock_taken();
    if (environ == process.lent)
        environ = own;
    store_release(lock, 0);
}

__attribute__((visibility("default"))) int setenv(const char *name, const char *value, int replaces)
{
    environment_be_own();
    return REAL(setenv)(name, value, replaces);
}

__attribute__((visibility("default"))) int unsetenv(const char *name)
{
    environment_be_own();
    return REAL(unsetenv)(name);
}

__attribute__((visibility("default"))) int putenv(char *entry)
{
    environment_be_own();
    return REAL(putenv)(entry);
}

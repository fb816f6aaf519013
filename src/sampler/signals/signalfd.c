/* SPDX-License-Identifier: MIT */
/*
 * signalfd(). The kernel queues blocked signals of the sampler and of other senders alike, and of
 * several signals with one number only the first. Hooks cannot filter read(), readv(), splice()
 * and io_uring, so a process with a descriptor for the sampler's signal is not sampled any more.
 *
 * A descriptor returns the pending signals of the reader, not of its creator. So forked children
 * are not sampled either, and executed programs only without an inherited descriptor:
 *
 *     signalfd() ─▶ SECCOMP_HAS_SIGNALFD ─▶ exec ─▶ REC_SESSION=…:FORBIDDEN
 *                ─▶ /proc/self/fdinfo, "sigmask:"
 *
 * Not detected: descriptors from a socket, inherited descriptors above INHERITED_MAX or without
 * /proc, and system calls outside of the C library.
 */
#include "sampler/signals/signalfd.h"

#include "sampler/base/identity.h"
#include "sampler/base/memory.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"
#include "sampler/process/retire.h"

#include <sys/signalfd.h>

#define INHERITED_MAX 255u
#define SIGMASK "sigmask:\t"

static uint64_t samplers_bit(void)
{
    return UINT64_C(1) << (process.signal - 1);
}

/* A vfork child gets no signals of the sampler, and runs on its parent's memory. */
void signalfd_prepare(const sigset_t *mask, size_t mask_bytes)
{
    uintptr_t page = MEMORY_NO_PAGE;
    if (!process_is_sampled() || process.signal == 0 || mask_bytes != sizeof(uint64_t) ||
        process_is_another() || !memory_is_readable(mask, mask_bytes, &page) ||
        !(*(const uint64_t *)(const void *)mask & samplers_bit()))
        return;
    __atomic_fetch_or(&process.forbidden, SECCOMP_HAS_SIGNALFD, __ATOMIC_RELAXED);
    process_retire();
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    signalfd_prepare(mask, sizeof(uint64_t));
    return NEXT(signalfd)(fd, mask, flags);
}

static uint32_t digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                  : 16;
}

/* The number behind "sigmask:"; 0: no such line. */
static uint64_t find_sigmask(const char *text, size_t bytes)
{
    const char name[] = SIGMASK;
    size_t matched = 0, i = 0;
    while (i < bytes && matched < sizeof(name) - 1) {
        matched = text[i] == name[matched] ? matched + 1 : text[i] == name[0];
        i++;
    }
    uint64_t mask = 0;
    for (; i < bytes && digit_of(text[i]) < 16; i++)
        mask = mask << 4 | digit_of(text[i]);
    return mask;
}

static uint64_t sigmask_of(uint32_t fd)
{
    char path[48], text[256];
    *append_number(append_text(path, "/proc/self/fdinfo/"), fd) = '\0';
    long file = own_syscall(OPEN, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (raw_failed(file))
        return 0;
    long bytes = own_syscall(READ, file, text, sizeof(text));
    own_syscall(CLOSE, file);
    return raw_failed(bytes) ? 0 : find_sigmask(text, (size_t)bytes);
}

bool signalfd_is_inherited(void)
{
    if (!seccomp_forbids(SECCOMP_HAS_SIGNALFD))
        return false;
    for (uint32_t fd = 0; fd <= INHERITED_MAX; fd++)
        if (sigmask_of(fd) & samplers_bit())
            return true;
    __atomic_fetch_and(&process.forbidden, ~SECCOMP_HAS_SIGNALFD, __ATOMIC_RELAXED);
    return false;
}

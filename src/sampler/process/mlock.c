/* SPDX-License-Identifier: MIT */
/*
 * mlockall() for the program's memory, without the sampler's: the sampler's is sparse, and 70 MiB
 * would be allocated, or exceed RLIMIT_MEMLOCK: then the program's memory could not be locked,
 * either.
 *
 *     mlockall(now | future) ─▶ mlockall(future) ─▶ each line of maps: mlock2(ON_FAULT) ─▶ mlock()
 *     mlockall(now)          ─▶ munlockall()     ─┘     without the sampler's
 *
 * MCL_ONFAULT first: without a page fault, the only possible errors are those of the limit.
 */
#include "sampler/process/mlock.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/attach.h"
#include "sampler/process/own_memory.h"

#include <sys/mman.h>

#define CALLS_OF_LOCKING \
    (CALL_BIT(OPEN) | CALL_BIT(READ) | CALL_BIT(CLOSE) | CALL_BIT(LOCK) | CALL_BIT(LOCK_NOW))
#define ALL_FLAGS (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)
/* Other threads may unmap what was just read. */
#define TRIES 3

struct avma_range {
    uint64_t start, end;
};

struct maps {
    long fd;
    long at, count;
    char bytes[512];
};

/* -1: the end. */
static int next_byte(struct maps *maps)
{
    if (maps->at >= maps->count) {
        maps->at = 0;
        maps->count = own_syscall(READ, maps->fd, maps->bytes, sizeof(maps->bytes));
    }
    return maps->count > 0 ? (unsigned char)maps->bytes[maps->at++] : -1;
}

/* Up to the separator, which is taken, too. */
static bool next_address(struct maps *maps, char separator, uint64_t *avma)
{
    *avma = 0;
    for (int c; (c = next_byte(maps)) != separator;) {
        if (c >= '0' && c <= '9')
            *avma = *avma << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *avma = *avma << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    return true;
}

static bool next_mapping(struct maps *maps, struct avma_range *range)
{
    if (!next_address(maps, '-', &range->start) || !next_address(maps, ' ', &range->end))
        return false;
    int c;
    do
        c = next_byte(maps);
    while (c >= 0 && c != '\n');
    return true;
}

/* Also a line of the kernel's half, where mlock() fails. */
static bool is_left_out(const struct avma_range *range)
{
    return range->start >> 63 || session_has_mapped(range->start, range->end) ||
           own_memory_has(range->start, range->end);
}

static long lock_on_fault(const struct avma_range *range)
{
    return own_syscall(LOCK, range->start, range->end - range->start, MLOCK_ONFAULT);
}

/* What has no page to give stays without, as with mlockall(). */
static long lock_now(const struct avma_range *range)
{
    own_syscall(LOCK_NOW, range->start, range->end - range->start);
    return 0;
}

/* Goes on after an error, and returns the last. */
static long lock_each(long (*lock)(const struct avma_range *range))
{
    struct maps maps = {.fd = own_syscall(OPEN, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (raw_failed(maps.fd))
        return maps.fd;
    long err = 0;
    for (struct avma_range range; next_mapping(&maps, &range);) {
        long result = is_left_out(&range) ? 0 : lock(&range);
        if (raw_failed(result))
            err = result;
    }
    own_syscall(CLOSE, maps.fd);
    return err;
}

static long lock_all(int flags)
{
    long err = -ENOMEM;
    for (int i = 0; i < TRIES && err == -ENOMEM; i++)
        err = lock_each(lock_on_fault);
    if (err == 0 && !(flags & MCL_ONFAULT))
        err = lock_each(lock_now);
    return err;
}

static bool has_maps(void)
{
    long fd = own_syscall(OPEN, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (!raw_failed(fd))
        own_syscall(CLOSE, fd);
    return !raw_failed(fd);
}

int mlockall(int flags)
{
    bool is_asked = (flags & MCL_CURRENT) && !(flags & ~ALL_FLAGS);
    if (!is_asked || !process.tables || seccomp_forbids(CALLS_OF_LOCKING) || !has_maps())
        return NEXT(mlockall)(flags);
    if (((flags & MCL_FUTURE) ? NEXT(mlockall)(flags & ~MCL_CURRENT) : munlockall()) != 0)
        return -1;
    long err = lock_all(flags);
    if (err)
        munlockall();
    return raw_told(err);
}

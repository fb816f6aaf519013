/* SPDX-License-Identifier: MIT */
#include "sampler/process/own_memory.h"

#include "sampler/base/own_call.h"
#include "sampler/process/join_request.h"

#include <stddef.h>
#include <sys/stat.h>

_Static_assert(SESSION_MEMORY_SEALS == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW),
               "all but write");

#define PAGE_BYTES 4096u
/* The last page of the ring before, then the ring. */
#define LATER_BYTES (PAGE_BYTES + SESSION_RING_BYTES)

static bool has_size(long fd, struct stat *status)
{
    return !raw_failed(own_syscall(STAT_FD, fd, status)) &&
           status->st_size == (off_t)sizeof(struct process_memory);
}

/* Beyond RLIMIT_FSIZE, ftruncate() would raise SIGXFSZ. Only the hard limit is binding. */
static bool set_size(long fd, struct stat *status)
{
    struct rlimit before;
    if (raw_failed(own_syscall(FILE_LIMIT, 0, RLIMIT_FSIZE, NULL, &before)))
        return false;
    if (before.rlim_max < sizeof(struct process_memory)) {
        own_syscall(STAT_FD, fd, status);
        join_request_size((uint32_t)fd, status->st_ino);
        return has_size(fd, status);
    }
    bool is_limited = before.rlim_cur < sizeof(struct process_memory);
    struct rlimit most = {before.rlim_max, before.rlim_max};
    if (is_limited)
        own_syscall(FILE_LIMIT, 0, RLIMIT_FSIZE, &most, NULL);
    own_syscall(SET_SIZE, fd, sizeof(struct process_memory));
    if (is_limited)
        own_syscall(FILE_LIMIT, 0, RLIMIT_FSIZE, &before, NULL);
    return has_size(fd, status) &&
           !raw_failed(own_syscall(SEAL, fd, F_ADD_SEALS, SESSION_MEMORY_SEALS));
}

/* Not in a core file, where a sparse mapping takes all of its size, and not in a forked child. */
static bool keep_private(void *memory, size_t bytes)
{
    own_syscall(ADVISE, memory, bytes, MADV_DONTDUMP);
    return !raw_failed(own_syscall(ADVISE, memory, bytes, MADV_DONTFORK));
}

static bool map(long fd)
{
    long memory =
        own_syscall(MAP_MEMORY, 0, SESSION_FIRST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    if (raw_failed(memory))
        return false;
    process.memory = (struct process_memory *)memory;
    process.slot = &process.memory->process;
    process.verdict = &process.memory->verdict;
    if (keep_private(process.memory, SESSION_FIRST_BYTES))
        return true;
    own_memory_free();
    return false;
}

bool own_memory_make(long *fd, uint64_t *inode)
{
    struct stat status;
    *fd = own_syscall(MAKE_MEMORY, SESSION_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (raw_failed(*fd))
        return false;
    if (set_size(*fd, &status) && map(*fd)) {
        *inode = status.st_ino;
        return true;
    }
    own_syscall(CLOSE, *fd);
    return false;
}

void own_memory_forget(void)
{
    process.memory = NULL;
    process.slot = NULL;
    process.verdict = NULL;
}

/* Before the first thread with a later ring. */
void own_memory_free(void)
{
    if (process.memory)
        own_syscall(UNMAP, process.memory, SESSION_FIRST_BYTES);
    own_memory_forget();
}

static uint8_t *ring_of(uint32_t index)
{
    if (index < SESSION_FIRST_RINGS)
        return process.memory->rings[index];
    return load_acquire(&process.later_rings[index]);
}

/*
 * The descriptor is closed, but an mremap() of no bytes maps a page of a shared mapping again, and
 * what follows the page in the file (mremap(2), old_size 0). Two threads may map the same ring: one
 * mapping is given back.
 */
static bool map_ring(uint32_t index)
{
    const uint8_t *before = ring_of(index - 1) + SESSION_RING_BYTES - PAGE_BYTES;
    long mapped = own_syscall(MAP_RING, before, 0, LATER_BYTES, MREMAP_MAYMOVE);
    if (raw_failed(mapped))
        return false;
    uint8_t *none = NULL, *ring = (uint8_t *)mapped + PAGE_BYTES;
    if (!__atomic_compare_exchange_n(&process.later_rings[index], &none, ring, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        own_syscall(UNMAP, mapped, LATER_BYTES);
    return true;
}

uint8_t *own_memory_ring(uint32_t index)
{
    for (uint32_t i = SESSION_FIRST_RINGS; i <= index; i++)
        if (!ring_of(i) && !map_ring(i))
            return NULL;
    return ring_of(index);
}

/* SPDX-License-Identifier: MIT */
/* The memory of a process as its sampler makes it, here of the test itself. */
#pragma once

#include "record/procfs/target_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct own_memory {
    int fd;
    uint64_t inode;
    struct process_memory *shared; /* all of it, as no process maps it */
};

static inline struct own_memory own_memory_make(void)
{
    struct stat status;
    struct own_memory memory = {.fd = memfd_create(SESSION_MEMORY_NAME, MFD_ALLOW_SEALING)};
    assert_int_equal(ftruncate(memory.fd, sizeof(struct process_memory)), 0);
    assert_int_equal(fcntl(memory.fd, F_ADD_SEALS, SESSION_MEMORY_SEALS), 0);
    assert_int_equal(fstat(memory.fd, &status), 0);
    memory.inode = status.st_ino;
    memory.shared =
        mmap(NULL, sizeof(struct process_memory), PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
    assert_ptr_not_equal(memory.shared, MAP_FAILED);
    return memory;
}

static inline void own_memory_free(struct own_memory *memory)
{
    munmap(memory->shared, sizeof(struct process_memory));
    close(memory->fd);
}

/* As the launcher maps it. */
static inline struct target_memory *own_memory_mapped(const struct own_memory *memory,
                                                      const struct session *session)
{
    struct target_memory *target;
    const struct join_request request = {.memory_fd = (uint32_t)memory->fd,
                                         .memory_inode = memory->inode};
    int fd = target_memory_find(session, getpid(), &request);
    assert_true(fd >= 0);
    assert_int_equal(target_memory_map(&target, fd), 0);
    close(fd);
    return target;
}

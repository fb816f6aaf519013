/* SPDX-License-Identifier: MIT */
/*
 * The memory of a recorded process (struct process_memory), as mapped here. The process made the
 * memory, so this is where hostile descriptors end:
 *
 *     /proc/PID/fd/N ─ O_PATH, device and inode of the request ─▶ opened ─▶ seals, size ─▶ mapped
 *
 * O_PATH and a statx() without synchronization open no device and reach no file system server.
 */
#pragma once

#include "record/session/session.h"
#include "wire/session.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Rings are mapped in chunks of 16, 16, 32, … 512: at most eight mappings for each process, far
 * below vm.max_map_count (65530) for all, and little address space for few threads.
 */
#define TARGET_MEMORY_FIRST_RINGS 16u
#define TARGET_MEMORY_CHUNKS 7u

struct target_memory {
    struct process_memory *shared; /* without the rings */
    uint64_t inode;
    uid_t uid;                             /* of the creator of the memory */
    uint32_t users;                        /* atomic: the process table, and maps under way */
    uint8_t *chunks[TARGET_MEMORY_CHUNKS]; /* the first ring of each; NULL: not mapped */
};

/*
 * Memories of ended processes that are unmapped together: one at a time, the kernel takes 8 us for
 * each, and eight neighbours in one call 4 (mapping, inode and page). While processes start and
 * end, memories without mapped rings wait, for ENDED_MEMORIES_NS at most.
 */
#define ENDED_MEMORIES_MAX 16u
#define ENDED_MEMORIES_NS 20000000

struct ended_memories {
    struct target_memory *items[ENDED_MEMORIES_MAX];
    size_t count;
    uint64_t since_ns; /* the first one */
};

/* A descriptor of the requested memory, if the process has the memory at the stated descriptor;
 * -1: it has not, or the process is hidden or gone. */
int target_memory_find(const struct session *session, pid_t pid,
                       const struct join_request *request);
/* The same by the pidfd, in a fifth of the time (3 us instead of 17). Closing the descriptor of
 * another file may contact a file system server: only for requests of rec's own user. */
int target_memory_take(const struct session *session, int pid_fd,
                       const struct join_request *request);

/* Maps the memory, with one user. -EPERM: the memory is not sealed, or of another size. */
int target_memory_map(struct target_memory **out, int fd);

/* Gives an empty memory its size and seals. -EPERM: not empty, or of another name. */
int target_memory_set_size(int fd);

struct target_memory *target_memory_use(struct target_memory *memory);
/* Unmaps after the last use. NULL: no effect. */
void target_memory_release(struct target_memory *memory);
/* The same for the memory of an ended process. Collector thread only. */
void target_memory_release_later(struct target_memory *memory, struct ended_memories *ended,
                                 uint64_t now_ns);
/* Unmaps them, if the first one has waited for long enough. */
void ended_memories_unmap_old(struct ended_memories *ended, uint64_t now_ns);
void ended_memories_unmap(struct ended_memories *ended);

/* The data of a ring, mapped when first used; NULL: no address space. Collector thread only. */
uint8_t *target_memory_ring(struct target_memory *memory, uint32_t index);

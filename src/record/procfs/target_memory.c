/* SPDX-License-Identifier: MIT */
#include "record/procfs/target_memory.h"

#include "wire/atomic.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define RINGS_AT offsetof(struct process_memory, rings)

/* The rings of a chunk, see target_memory.h. */
static uint32_t count_of(uint32_t chunk)
{
    return chunk ? TARGET_MEMORY_FIRST_RINGS << (chunk - 1) : TARGET_MEMORY_FIRST_RINGS;
}

static uint32_t first_of(uint32_t chunk)
{
    return chunk ? count_of(chunk) : 0;
}

static uint32_t chunk_of(uint32_t ring)
{
    uint32_t chunk = 0;
    while (ring >= first_of(chunk) + count_of(chunk))
        chunk++;
    return chunk;
}

/* The page before a chunk, and the chunk. */
static size_t chunk_bytes(uint32_t chunk)
{
    return PAGE_BYTES + (size_t)count_of(chunk) * SESSION_RING_BYTES;
}

/* FUSE and network file systems are not contacted. */
static bool look(int fd, struct statx *status)
{
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                 STATX_TYPE | STATX_INO | STATX_SIZE | STATX_UID, status) == 0;
}

static bool is_of_request(int fd, const struct session *session, const struct join_request *request)
{
    struct statx status;
    return fd >= 0 && look(fd, &status) && status.stx_ino == request->memory_inode &&
           makedev(status.stx_dev_major, status.stx_dev_minor) == session->memory_device;
}

/* The open file behind an O_PATH descriptor. */
static int reopen(const struct session *session, int path_fd)
{
    char name[16];
    snprintf(name, sizeof(name), "%d", path_fd);
    return openat(session->own_files, name, O_RDWR | O_CLOEXEC);
}

int target_memory_find(const struct session *session, pid_t pid, const struct join_request *request)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)pid, request->memory_fd);
    int place = open(path, O_PATH | O_CLOEXEC);
    int fd = is_of_request(place, session, request) ? reopen(session, place) : -1;
    if (place >= 0)
        close(place);
    return fd;
}

int target_memory_take(const struct session *session, int pid_fd,
                       const struct join_request *request)
{
    int fd = (int)syscall(SYS_pidfd_getfd, pid_fd, request->memory_fd, 0);
    if (is_of_request(fd, session, request))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Seals first: a sealed file keeps its size. */
static bool is_safe(int fd, struct statx *status)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SESSION_MEMORY_SEALS) == SESSION_MEMORY_SEALS &&
           look(fd, status) && status->stx_size == sizeof(struct process_memory);
}

static int map(struct target_memory **out, int fd, const struct statx *status)
{
    struct target_memory *memory = calloc(1, sizeof(*memory));
    void *shared = mmap(NULL, RINGS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!memory || shared == MAP_FAILED) {
        free(memory);
        if (shared != MAP_FAILED)
            munmap(shared, RINGS_AT);
        return -ENOMEM;
    }
    *memory = (struct target_memory){
        .shared = shared, .inode = status->stx_ino, .uid = status->stx_uid, .users = 1};
    *out = memory;
    return 0;
}

int target_memory_map(struct target_memory **out, int fd)
{
    struct statx status;
    return is_safe(fd, &status) ? map(out, fd, &status) : -EPERM;
}

/* By its name and size. A request in the name of another process must not spoil a memfd there. */
static bool is_waiting_for_size(int fd)
{
    static const char expected[] = "/memfd:" SESSION_MEMORY_NAME " (deleted)";
    char path[64], link[sizeof(expected)];
    struct statx status;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, link, sizeof(link));
    return length == sizeof(expected) - 1 && memcmp(link, expected, sizeof(expected) - 1) == 0 &&
           look(fd, &status) && status.stx_size == 0;
}

int target_memory_set_size(int fd)
{
    int err =
        is_waiting_for_size(fd) ? session_set_size(fd, sizeof(struct process_memory)) : -EPERM;
    if (err == 0 && fcntl(fd, F_ADD_SEALS, SESSION_MEMORY_SEALS) != 0)
        err = -errno;
    return err;
}

struct target_memory *target_memory_use(struct target_memory *memory)
{
    add_relaxed(&memory->users, 1);
    return memory;
}

/* True for the last user. */
static bool leave(struct target_memory *memory)
{
    return memory && __atomic_sub_fetch(&memory->users, 1, __ATOMIC_ACQ_REL) == 0;
}

static void unmap(struct target_memory *memory)
{
    for (uint32_t i = 0; i < TARGET_MEMORY_CHUNKS; i++)
        if (memory->chunks[i])
            munmap(memory->chunks[i] - PAGE_BYTES, chunk_bytes(i));
    munmap(memory->shared, RINGS_AT);
    free(memory);
}

void target_memory_release(struct target_memory *memory)
{
    if (leave(memory))
        unmap(memory);
}

void target_memory_release_later(struct target_memory *memory, struct ended_memories *ended,
                                 uint64_t now_ns)
{
    if (!leave(memory))
        return;
    if (memory->chunks[0]) { /* of up to 512 MiB, with records */
        unmap(memory);
        return;
    }
    if (ended->count == ENDED_MEMORIES_MAX)
        ended_memories_unmap(ended);
    if (ended->count == 0)
        ended->since_ns = now_ns;
    ended->items[ended->count++] = memory;
}

static int by_address(const void *left, const void *right)
{
    const struct target_memory *const *a = left, *const *b = right;
    return ((*a)->shared > (*b)->shared) - ((*a)->shared < (*b)->shared);
}

/* The kernel places new mappings side by side. */
void ended_memories_unmap(struct ended_memories *ended)
{
    uint8_t *start = NULL, *end = NULL;
    qsort(ended->items, ended->count, sizeof(ended->items[0]), by_address);
    for (size_t i = 0; i < ended->count; i++) {
        uint8_t *shared = (uint8_t *)ended->items[i]->shared;
        if (shared != end && start)
            munmap(start, (size_t)(end - start));
        if (shared != end)
            start = shared;
        end = shared + RINGS_AT;
        free(ended->items[i]);
    }
    if (start)
        munmap(start, (size_t)(end - start));
    ended->count = 0;
}

void ended_memories_unmap_old(struct ended_memories *ended, uint64_t now_ns)
{
    if (ended->count > 0 && now_ns - ended->since_ns >= ENDED_MEMORIES_NS)
        ended_memories_unmap(ended);
}

/* Of the chunk before, or the last page before all rings. */
static uint8_t *page_before(const struct target_memory *memory, uint32_t chunk)
{
    if (chunk == 0)
        return (uint8_t *)memory->shared + RINGS_AT - PAGE_BYTES;
    return memory->chunks[chunk - 1] + chunk_bytes(chunk - 1) - 2 * PAGE_BYTES;
}

/* As in sampler/process/own_memory.c. */
static bool map_chunk(struct target_memory *memory, uint32_t chunk)
{
    uint8_t *mapped = mremap(page_before(memory, chunk), 0, chunk_bytes(chunk), MREMAP_MAYMOVE);
    if (mapped == MAP_FAILED)
        return false;
    memory->chunks[chunk] = mapped + PAGE_BYTES;
    return true;
}

uint8_t *target_memory_ring(struct target_memory *memory, uint32_t index)
{
    static_assert(TARGET_MEMORY_FIRST_RINGS << (TARGET_MEMORY_CHUNKS - 1) == SESSION_THREADS,
                  "the chunks hold the rings of all threads");
    assert(index < SESSION_THREADS);
    const uint32_t chunk = chunk_of(index);
    for (uint32_t i = 0; i <= chunk; i++)
        if (!memory->chunks[i] && !map_chunk(memory, i))
            return NULL;
    return memory->chunks[chunk] + (size_t)(index - first_of(chunk)) * SESSION_RING_BYTES;
}

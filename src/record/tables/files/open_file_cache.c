/* SPDX-License-Identifier: MIT */
#include "record/tables/files/open_file_cache.h"

#include "base/containers/array.h"
#include "base/sandbox/confine.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OPEN_FILES_BYTES_MAX (UINT64_C(1) << 30)
#define XFS_MAGIC 0x58465342 /* as in linux/magic.h of later kernels */
enum { FILES_SHARE = 8 };    /* at most this part of all descriptors */

/* 0: unknown. */
static uint64_t mount_of(int directory_fd, const char *path)
{
    struct statx status;
    if (statx(directory_fd, path, AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0 ||
        !(status.stx_mask & STATX_MNT_ID))
        return 0;
    return status.stx_mnt_id;
}

static void look_around(struct open_file_cache *cache)
{
    static const char *const places[] = {"/", ".", "/usr", "/home", "/tmp", "/var", "/dev/shm"};
    _Static_assert(sizeof(places) / sizeof(places[0]) <= OPEN_FILE_MOUNTS, "all have room");
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    cache->limit = files.rlim_cur / FILES_SHARE < OPEN_FILES_MAX ? files.rlim_cur / FILES_SHARE
                                                                 : OPEN_FILES_MAX;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        cache->mounts[cache->mount_count++] = mount_of(AT_FDCWD, places[i]);
}

static bool is_local(int fd)
{
    static const unsigned types[] = {EXT4_SUPER_MAGIC, XFS_MAGIC,   BTRFS_SUPER_MAGIC,
                                     F2FS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
    struct statfs status;
    if (fstatfs(fd, &status) != 0)
        return false;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if ((unsigned)status.f_type == types[i])
            return true;
    return false;
}

static bool is_root_mount(pid_t pid, uint64_t mount)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    return mount && mount == mount_of(AT_FDCWD, path);
}

/* Their paths lead nowhere here. The mapping blocks unmounting, too. */
static bool has_own_mounts(pid_t pid)
{
    char path[32];
    struct stat here, there;
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
    return stat(path, &there) == 0 && stat("/proc/self/ns/mnt", &here) == 0 &&
           there.st_ino != here.st_ino;
}

static bool may_be_held(const struct open_file_cache *cache, pid_t pid, int fd)
{
    uint64_t mount = mount_of(fd, "");
    if (is_root_mount(pid, mount) || (mount && has_own_mounts(pid)))
        return is_local(fd);
    for (size_t i = 0; i < cache->mount_count && mount; i++)
        if (cache->mounts[i] == mount)
            return is_local(fd);
    return false;
}

static void drop(struct open_file_cache *cache, size_t index)
{
    struct open_file *file = &cache->files[index];
    cache->bytes -= (uint64_t)file->status.st_size;
    close(file->fd);
    free(file->path);
    cache->count--;
    memmove(file, file + 1, (cache->count - index) * sizeof(*file));
}

/* Device and inode alone do not show a file rewritten in place. */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static const struct open_file *find(const struct open_file_cache *cache, const char *path,
                                    const uint8_t *build_id, size_t build_id_bytes)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct open_file *file = &cache->files[i];
        if (file->build_id_bytes == build_id_bytes &&
            memcmp(file->build_id, build_id, build_id_bytes) == 0 && strcmp(file->path, path) == 0)
            return file;
    }
    return NULL;
}

/* False: the file is excluded from holding. */
static bool add(struct open_file_cache *cache, pid_t pid, const char *path, const uint8_t *build_id,
                size_t build_id_bytes, int fd)
{
    if (cache->mount_count == 0)
        look_around(cache);
    struct open_file file = {.path = strdup(path), .build_id_bytes = build_id_bytes, .fd = -1};
    const struct open_file *known = find(cache, path, build_id, build_id_bytes);
    bool is_held = false;
    if (!file.path || fstat(fd, &file.status) != 0)
        goto out;
    is_held = known && is_same(&known->status, &file.status);
    if (is_held || (uint64_t)file.status.st_size > OPEN_FILES_BYTES_MAX || cache->limit == 0 ||
        !may_be_held(cache, pid, fd))
        goto out;
    while (cache->count >= cache->limit ||
           cache->bytes + (uint64_t)file.status.st_size > OPEN_FILES_BYTES_MAX)
        drop(cache, 0);
    /* Above the descriptors with a fixed number in the sandboxed worker (confine.h). */
    file.fd = fcntl(fd, F_DUPFD_CLOEXEC, CONFINE_RULES_FD + 1);
    struct open_file *place =
        file.fd < 0 ? NULL : ARRAY_PUSH(cache->files, cache->count, cache->capacity);
    if (!place)
        goto out;
    memcpy(file.build_id, build_id, build_id_bytes);
    snprintf(file.path_now, sizeof(file.path_now), "/proc/self/fd/%d", file.fd);
    cache->bytes += (uint64_t)file.status.st_size;
    *place = file;
    return true;
out:
    if (file.fd >= 0)
        close(file.fd);
    free(file.path);
    return is_held;
}

bool open_file_cache_add(struct open_file_cache *cache, pid_t pid, const char *path,
                         const uint8_t *build_id, size_t build_id_bytes, int fd)
{
    pthread_mutex_lock(&cache->mutex);
    bool is_held = add(cache, pid, path, build_id, build_id_bytes, fd);
    pthread_mutex_unlock(&cache->mutex);
    return is_held;
}

void open_file_cache_drop_present(struct open_file_cache *cache)
{
    for (size_t i = cache->count; i-- > 0;) {
        const struct open_file *file = &cache->files[i];
        struct stat there, held;
        bool is_present = stat(file->path, &there) == 0 && is_same(&there, &file->status);
        bool is_intact = fstat(file->fd, &held) == 0 && is_same(&held, &file->status);
        if (is_present || !is_intact)
            drop(cache, i);
    }
}

const char *open_file_cache_find(const struct open_file_cache *cache, const char *path,
                                 const uint8_t *build_id, size_t build_id_bytes)
{
    const struct open_file *file = find(cache, path, build_id, build_id_bytes);
    return file ? file->path_now : NULL;
}

int open_file_cache_open(struct open_file_cache *cache, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes)
{
    pthread_mutex_lock(&cache->mutex);
    const char *held = open_file_cache_find(cache, path, build_id, build_id_bytes);
    int fd = held ? open(held, O_RDONLY | O_CLOEXEC) : -1;
    pthread_mutex_unlock(&cache->mutex);
    return fd;
}

static int by_number(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

size_t open_file_cache_descriptors(const struct open_file_cache *cache,
                                   int descriptors[OPEN_FILES_MAX])
{
    for (size_t i = 0; i < cache->count; i++)
        descriptors[i] = cache->files[i].fd;
    qsort(descriptors, cache->count, sizeof(*descriptors), by_number);
    return cache->count;
}

void open_file_cache_free(struct open_file_cache *cache)
{
    while (cache->count > 0)
        drop(cache, cache->count - 1);
    free(cache->files);
    *cache = (struct open_file_cache){0};
}

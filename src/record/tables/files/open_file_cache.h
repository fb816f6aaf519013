/* SPDX-License-Identifier: MIT */
/*
 * Holds mapped files open for the symbolizer: at conversion time, a build has deleted its test
 * programs, or a package was upgraded.
 *
 * An open file blocks unmounting, and on a file server keeps a removed directory from disappearing.
 * Only local files are held, on the mounts of the system's own directories, on the root mount of
 * the process, which stays while the process lives, and on mounts of other namespaces. Deleted
 * files occupy disk space while held: number and sizes are limited, the oldest go first.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { OPEN_FILE_MOUNTS = 8, OPEN_FILES_MAX = 256 };

struct open_file {
    char *path; /* at the time of the mapping */
    uint8_t build_id[20];
    size_t build_id_bytes;
    struct stat status; /* when opened */
    int fd;
    char path_now[40]; /* opens the file by its descriptor, under any later name */
};

/* All zero is empty. */
struct open_file_cache {
    pthread_mutex_t mutex; /* of additions, and of openings in the meantime */
    struct open_file *files;
    size_t count, capacity;
    uint64_t bytes;                    /* of all files together */
    size_t limit;                      /* of count; 0: not initialized yet */
    uint64_t mounts[OPEN_FILE_MOUNTS]; /* only files on these mounts are held */
    size_t mount_count;
};

/* Duplicates fd, of a file mapped by the process. Thread-safe. False: the
 * file is not held, as excluded from holding or out of memory. */
bool open_file_cache_add(struct open_file_cache *cache, pid_t pid, const char *path,
                         const uint8_t *build_id, size_t build_id_bytes, int fd);

/* Opens the held file anew, during additions by other threads, too. Thread-safe. Returns the
 * descriptor, close-on-exec; -1: not held. */
int open_file_cache_open(struct open_file_cache *cache, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes);

/* All further functions are for the time after the last addition. */

/* Drops files still at their path, and overwritten files. */
void open_file_cache_drop_present(struct open_file_cache *cache);

/* The path under which this process, and a child with the descriptor, can open the file; NULL: not
 * held. */
const char *open_file_cache_find(const struct open_file_cache *cache, const char *path,
                                 const uint8_t *build_id, size_t build_id_bytes);

/* The open descriptors in rising order. Returns their number. */
size_t open_file_cache_descriptors(const struct open_file_cache *cache,
                                   int descriptors[OPEN_FILES_MAX]);

void open_file_cache_free(struct open_file_cache *cache);

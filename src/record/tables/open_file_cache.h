/* SPDX-License-Identifier: MIT */
/*
 * Files that were mapped, held open until they have been read for names: by then a build has deleted its test
 * programs, or a package was upgraded.
 *
 * What is held open cannot be unmounted, and makes a directory on a file server stay when it is removed; so
 * only local files are held that lie in a file system that nobody unmounts under a running system. Deleted
 * ones take up room as long as they are held: their number and sizes are limited, the oldest go first.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { KEPT_MOUNTS = 8, KEPT_MAX = 256 };

struct kept_file {
    char *path; /* where it was mapped from */
    uint8_t build_id[20];
    size_t build_id_bytes;
    struct stat status; /* when it was opened */
    int fd;
    char path_now[40]; /* leads to the file, whatever became of its name */
};

/* All zero is empty. */
struct open_file_cache {
    struct kept_file *files;
    size_t count, capacity;
    uint64_t bytes;               /* of all of them */
    size_t limit;                 /* of the count; 0: not known yet */
    uint64_t mounts[KEPT_MOUNTS]; /* what lies there may be held */
    size_t mount_count;
};

/* fd is duplicated. A file that may not be held is left out silently. */
void open_file_cache_add(struct open_file_cache *kept, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes, int fd);

/* Lets those go that still lie at their path, and those that were written over. */
void open_file_cache_drop_present(struct open_file_cache *kept);

/* The path under which this process, and a child that has the descriptor, can open the file; NULL: not held. */
const char *open_file_cache_find(const struct open_file_cache *kept, const char *path,
                                 const uint8_t *build_id, size_t build_id_bytes);

/* The open descriptors in rising order. Returns their number. */
size_t open_file_cache_descriptors(const struct open_file_cache *kept, int descriptors[KEPT_MAX]);

void open_file_cache_free(struct open_file_cache *kept);

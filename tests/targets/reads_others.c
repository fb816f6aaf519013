/* SPDX-License-Identifier: MIT */
/*
 * reads_others PID: whether a member of a recording gets at the memory of the process PID of the same
 * recording: by its own mappings and descriptors, by the descriptors of the process, by its memory.
 * Prints "no", or each way.
 */
#include "rings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Inodes of the memfds of this name among the mappings of a process. */
static unsigned count_inodes(const char *pid, const char *name, ino_t *first)
{
    char path[64], line[512];
    unsigned count = 0;
    snprintf(path, sizeof(path), "/proc/%s/maps", pid);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long inode;
        if (strstr(line, name) && sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1) {
            count += *first != inode;
            *first = inode;
        }
    }
    if (maps)
        fclose(maps);
    return count;
}

/* A descriptor of a process' rings. */
static bool has_rings(const char *pid)
{
    char path[64], link[64];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof(link));
        found |= length > 16 && memcmp(link, "/memfd:rec-rings", 16) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

int main(int argc, char **argv)
{
    ino_t own = 0;
    char memory[64];
    bool any = false;
    if (argc != 2 || !find_shared("rec-rings"))
        return 2;
    if (count_inodes("self", "/memfd:rec-rings", &own) != 1)
        any = puts("mapping") >= 0;
    if (has_rings("self"))
        any = puts("descriptor") >= 0;
    if (has_rings(argv[1]))
        any = puts("its descriptor") >= 0;
    snprintf(memory, sizeof(memory), "/proc/%s/mem", argv[1]);
    if (open(memory, O_RDWR) >= 0)
        any = puts("its memory") >= 0;
    if (!any)
        puts("no");
    return 0;
}

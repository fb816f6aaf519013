/* SPDX-License-Identifier: MIT */
#include "base/files/kept_roots.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes of a container share a root. */
enum { PROCESSES_MAX = 4096, ROOTS_MAX = 128 };

static struct root {
    int fd;
    uint64_t mount, inode; /* in another mount namespace, the same directory has another mount */
} roots[ROOTS_MAX];
static size_t root_count;

static struct {
    pid_t pid;
    const struct root *root;
} processes[PROCESSES_MAX];
static size_t process_count;

static bool look(int directory, const char *path, struct root *root)
{
    struct statx status;
    int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
    if (statx(directory, path, flags, STATX_MNT_ID | STATX_INO, &status) != 0)
        return false;
    root->mount = status.stx_mnt_id;
    root->inode = status.stx_ino;
    return true;
}

static bool is_same(const struct root *a, const struct root *b)
{
    return a->mount == b->mount && a->inode == b->inode;
}

static int open_root(pid_t pid, const struct rights *rights)
{
    char path[32];
    struct rights_loan loan;
    if (rights_borrow(&loan, rights) != 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    rights_return(&loan);
    return fd;
}

/* Keeps fd unless the root is known; NULL: no room, or this process' own root. */
static const struct root *keep(int fd)
{
    struct root root = {.fd = fd}, own;
    if (!look(fd, "", &root) || (look(AT_FDCWD, "/", &own) && is_same(&root, &own)))
        return NULL;
    for (size_t i = 0; i < root_count; i++)
        if (is_same(&roots[i], &root))
            return &roots[i];
    if (root_count == ROOTS_MAX)
        return NULL;
    roots[root_count] = root;
    return &roots[root_count++];
}

void kept_roots_hold(pid_t pid, const struct rights *rights)
{
    int fd = process_count < PROCESSES_MAX ? open_root(pid, rights) : -1;
    if (fd < 0)
        return;
    const struct root *root = keep(fd);
    if (!root || root->fd != fd)
        close(fd);
    if (!root)
        return;
    processes[process_count].pid = pid;
    processes[process_count++].root = root;
}

int kept_roots_find(pid_t pid)
{
    for (size_t i = 0; i < process_count; i++)
        if (processes[i].pid == pid)
            return processes[i].root->fd;
    return -1;
}

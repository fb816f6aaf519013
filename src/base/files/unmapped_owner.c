/* SPDX-License-Identifier: MIT */
#include "base/files/unmapped_owner.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { OVERFLOW_ID = 65534 }; /* DEFAULT_OVERFLOWUID, include/linux/highuid.h */

/* Of the whole system; read once. */
struct overflow_id {
    const char *path;
    unsigned id;
    bool is_read;
};
static struct overflow_id overflow_user = {.path = "/proc/sys/kernel/overflowuid"};
static struct overflow_id overflow_group = {.path = "/proc/sys/kernel/overflowgid"};

static unsigned overflow_id(struct overflow_id *overflow)
{
    FILE *file = overflow->is_read ? NULL : fopen(overflow->path, "re");
    if (!overflow->is_read && (!file || fscanf(file, "%u", &overflow->id) != 1))
        overflow->id = OVERFLOW_ID;
    if (file)
        fclose(file);
    overflow->is_read = true;
    return overflow->id;
}

/* A line of /proc/PID/uid_map or gid_map. */
struct id_map {
    unsigned first, outside, count;
};

/* The first line; no ids without a line. */
static struct id_map first_map(const char *path)
{
    struct id_map map;
    FILE *file = fopen(path, "re");
    bool is_read = file && fscanf(file, "%u %u %u", &map.first, &map.outside, &map.count) == 3;
    if (file)
        fclose(file);
    return is_read ? map : (struct id_map){0};
}

/* The initial namespace, and namespaces that map the same ids. */
static bool are_all_mapped(const char *path)
{
    struct id_map map = first_map(path);
    return map.first == 0 && map.count == UINT32_MAX;
}

bool owner_is_unmapped(uid_t uid)
{
    return uid == overflow_id(&overflow_user) && !are_all_mapped("/proc/self/uid_map");
}

bool owner_is_self(uid_t uid)
{
    return uid == geteuid() && !owner_is_unmapped(uid);
}

bool group_is_self(gid_t gid)
{
    bool is_unmapped = gid == overflow_id(&overflow_group) && !are_all_mapped("/proc/self/gid_map");
    return gid == getegid() && !is_unmapped;
}

bool group_is_of_root(gid_t gid)
{
    struct id_map map = first_map("/proc/self/gid_map");
    return gid == 0 && map.count > 0 && map.first == 0 && map.outside == 0;
}

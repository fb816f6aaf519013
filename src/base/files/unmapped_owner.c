/* SPDX-License-Identifier: MIT */
#include "base/files/unmapped_owner.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { OVERFLOW_ID = 65534 }; /* DEFAULT_OVERFLOWUID, include/linux/highuid.h */

static unsigned overflow_id(const char *path)
{
    unsigned id = OVERFLOW_ID;
    FILE *file = fopen(path, "re");
    if (!file)
        return id;
    if (fscanf(file, "%u", &id) != 1)
        id = OVERFLOW_ID;
    fclose(file);
    return id;
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
    return uid == overflow_id("/proc/sys/kernel/overflowuid") &&
           !are_all_mapped("/proc/self/uid_map");
}

bool owner_is_self(uid_t uid)
{
    return uid == geteuid() && !owner_is_unmapped(uid);
}

bool group_is_self(gid_t gid)
{
    bool is_unmapped =
        gid == overflow_id("/proc/sys/kernel/overflowgid") && !are_all_mapped("/proc/self/gid_map");
    return gid == getegid() && !is_unmapped;
}

bool group_is_of_root(gid_t gid)
{
    struct id_map map = first_map("/proc/self/gid_map");
    return gid == 0 && map.count > 0 && map.first == 0 && map.outside == 0;
}

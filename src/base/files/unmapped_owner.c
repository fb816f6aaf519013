/* SPDX-License-Identifier: MIT */
#include "base/files/unmapped_owner.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { OVERFLOW_UID = 65534 }; /* DEFAULT_OVERFLOWUID, include/linux/highuid.h */

static uid_t overflow_uid(void)
{
    unsigned uid = OVERFLOW_UID;
    FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
    if (!file)
        return uid;
    if (fscanf(file, "%u", &uid) != 1)
        uid = OVERFLOW_UID;
    fclose(file);
    return uid;
}

/* The initial namespace, and namespaces that map the same ids. */
static bool are_all_mapped(void)
{
    unsigned first = 1, outside, count = 0;
    FILE *file = fopen("/proc/self/uid_map", "re");
    if (!file)
        return false;
    bool is_read = fscanf(file, "%u %u %u", &first, &outside, &count) == 3;
    fclose(file);
    return is_read && first == 0 && count == UINT32_MAX;
}

bool owner_is_unmapped(uid_t uid)
{
    return uid == overflow_uid() && !are_all_mapped();
}

bool owner_is_self(uid_t uid)
{
    return uid == geteuid() && !owner_is_unmapped(uid);
}

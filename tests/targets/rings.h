/* SPDX-License-Identifier: MIT */
/* The shared memory of the recording that the calling program belongs to. */
#pragma once

#include "wire/session.h"

#include <stdio.h>
#include <string.h>

/* name: "rec-rings" (of this process), "rec-requests" or "rec-tables"; NULL: not mapped here. */
static inline void *find_shared(const char *name)
{
    char line[512], wanted[64];
    void *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    snprintf(wanted, sizeof(wanted), "/memfd:%s ", name);
    while (maps && !found && fgets(line, sizeof(line), maps))
        if (strstr(line, wanted))
            sscanf(line, "%p", &found);
    if (maps)
        fclose(maps);
    return found;
}

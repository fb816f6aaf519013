/* SPDX-License-Identifier: MIT */
#include "record/procfs/living_task.h"

#include "record/procfs/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without memory there is no link. Other errors, of permissions, are those of all threads. */
static bool has_memory(pid_t tid)
{
    char path[64], link[2];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
    return readlink(path, link, sizeof(link)) >= 0 || errno != ENOENT;
}

pid_t living_task_find(pid_t pid)
{
    char path[64];
    size_t count = 0;
    pid_t found = pid;
    if (has_memory(pid))
        return pid;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count && found == pid; i++)
        if (tids[i] != pid && has_memory(tids[i]))
            found = tids[i];
    free(tids);
    return found;
}

/* SPDX-License-Identifier: MIT */
#include "convert/load/cgroups.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

int cgroups_init(struct cgroups *cgroups, struct profile *profile)
{
    *cgroups = (struct cgroups){.profile = profile, .ids = intern_new()};
    return cgroups->ids ? 0 : -ENOMEM;
}

void cgroups_free(struct cgroups *cgroups)
{
    intern_free(cgroups->ids);
    free(cgroups->paths);
    *cgroups = (struct cgroups){0};
}

int cgroups_name(struct cgroups *cgroups, const struct perfdata_event *event)
{
    uint32_t index = intern_add(cgroups->ids, &event->cgroup, sizeof(event->cgroup));
    if (index == cgroups->count)
        ARRAY_PUSH(cgroups->paths, cgroups->count, cgroups->capacity);
    if (index >= cgroups->count)
        return -ENOMEM;
    cgroups->paths[index] = profile_string(cgroups->profile, event->path);
    return cgroups->profile->failed ? -ENOMEM : 0;
}

uint32_t cgroups_path(const struct cgroups *cgroups, uint64_t id)
{
    uint32_t index = intern_find(cgroups->ids, &id, sizeof(id));
    return index < cgroups->count ? cgroups->paths[index] : PROFILE_NONE;
}

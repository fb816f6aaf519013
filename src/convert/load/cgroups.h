/* SPDX-License-Identifier: MIT */
/* The control groups of threads: samples have a number, CGROUP records have its path. */
#pragma once

#include "perfdata/reader.h"
#include "profile/profile.h"

struct cgroups {
    struct profile *profile;
    struct intern *ids; /* number -> index in paths */
    uint32_t *paths;    /* strings of the profile */
    size_t count, capacity;
};

int cgroups_init(struct cgroups *cgroups, struct profile *profile);
void cgroups_free(struct cgroups *cgroups);

/* A CGROUP record. 0 or -ENOMEM. */
int cgroups_name(struct cgroups *cgroups, const struct perfdata_event *event);
/* The path of a sample's cgroup; PROFILE_NONE: unknown. */
uint32_t cgroups_path(const struct cgroups *cgroups, uint64_t id);

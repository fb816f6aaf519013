/* SPDX-License-Identifier: MIT */
#include "cli/options/record/recorder_names.h"

#include "cli/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void refuse(const char *name, const char *remedy, struct error *error)
{
    const char *ids[RECORDERS + 1] = {NULL};
    char all[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < RECORDERS; i++) {
        ids[i] = recorders[i].id;
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", ids[i]);
    }
    const char *nearest = options_nearest(name, ids);
    if (nearest)
        error_set(error, -EINVAL, "unknown recorder '%s': did you mean %s?", name, nearest);
    else
        error_set(error, -EINVAL, "unknown recorder '%s': available names: %s%s", name, all,
                  remedy);
}

const struct recorder *recorder_names_find(const char *name, const char *remedy,
                                           struct error *error)
{
    const struct recorder *found = recorder_find(name);
    if (!found)
        refuse(name, remedy, error);
    return found;
}

int recorder_names_add(uint32_t *set, const char *list, struct error *error)
{
    for (const char *at = list;; at++) {
        char name[64];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        const struct recorder *found = recorder_names_find(name, "; see `rec list`", error);
        if (!found)
            return -EINVAL;
        *set |= recorder_bit(found);
        at += length;
        if (!*at)
            return 0;
    }
}

int recorder_names_engine(enum record_engine *engine, const char *name, struct error *error)
{
    char all[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < RECORD_SOURCES; i++) {
        if (strcmp(name, record_sources[i].name) == 0) {
            *engine = record_sources[i].engine;
            return 0;
        }
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
                                     record_sources[i].name);
    }
    return error_set(error, -EINVAL, "unknown engine %s: available names: %s", name, all);
}

/* SPDX-License-Identifier: MIT */
#include "profile/synthetic.h"

#include "profile/waits.h"
#include "profile/walk.h"

#include <string.h>

/* The rest of an ended thread, above the frames of the start of the thread. */
static const char between_samples[] = "[between samples]";

/* [no stack], [waiting: lock], … */
static bool is_measured_root(const struct profile *profile, uint32_t lib)
{
    const char *name = profile_text(profile, profile->libs[lib].name);
    return strcmp(name, PROFILE_NO_STACK) == 0 ||
           (wait_reason_is_lib(profile, lib) && strcmp(name, WAITS_SHORT) != 0);
}

bool sample_is_measured(const struct profile *profile, const struct profile_sample *sample)
{
    if (sample->call == PROFILE_NONE)
        return true;
    const struct profile_call *call = &profile->calls[sample->call];
    uint32_t lib = profile->addresses[call->address].lib;
    if (lib == PROFILE_NONE || !profile->libs[lib].is_synthetic)
        return true;
    if (strcmp(profile_text(profile, profile->libs[lib].name), between_samples) == 0)
        return false;
    return call->parent != PROFILE_NONE || is_measured_root(profile, lib);
}

size_t samples_count_measured(const struct profile *profile)
{
    size_t count = 0;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));)
        if (profile_is_main(profile, sample) && sample_is_measured(profile, sample))
            count += sample->count;
    return count;
}

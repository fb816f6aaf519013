/* SPDX-License-Identifier: MIT */
/* One sample of many, for tests: in the order of time, and of the threads when times are equal. */
#pragma once

#include "profile/walk.h"

#include <assert.h>

static inline struct profile_sample sample_at(const struct profile *profile, size_t index)
{
    struct profile_by_time by_time;
    int err = profile_by_time_open(&by_time, profile);
    const struct profile_sample *sample = NULL;
    for (size_t i = 0; err == 0 && i <= index; i++)
        sample = profile_by_time_next(&by_time);
    assert(sample);
    struct profile_sample copy = sample ? *sample : (struct profile_sample){0};
    profile_by_time_close(&by_time);
    return copy;
}

/* SPDX-License-Identifier: MIT */
/* Whether captures can be compared: the same event, the same machine, samples. */
#pragma once

#include "base/text/error.h"
#include "compare/compare.h"
#include "profile/profile.h"

struct comparable { /* of the first capture */
    char path[4096], event[128], cpu[128];
    const char *time; /* see weight_time_name() */
    bool is_cpu_time, is_set, has_other_period;
    uint64_t period;
};

/* 0, or -EINVAL: a capture that cannot be compared with the first one. */
int comparable_check(struct comparable *comparable, const struct profile *profile, const char *path,
                     bool by_share, struct error *error);

/* 0, or -EINVAL: both sides have functions, but none of the same name. After judging. */
int comparable_check_common(const struct comparison *comparison, struct error *error);

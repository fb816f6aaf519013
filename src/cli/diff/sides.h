/* SPDX-License-Identifier: MIT */
/* All runs of a comparison in one profile, for the exporters: weights for each run. */
#pragma once

#include "compare/compare.h"
#include "export/export.h"
#include "profile/merge.h"

struct sides {
    struct profile_merge *merge; /* NULL: no outputs */
    struct profile *profile;     /* after sides_finish() */
    struct export_diff diff;
    uint8_t *changes;
    struct export_removed *removed;
    uint32_t base_product, new_product; /* strings of the first capture of the side */
};

/* 0 or -ENOMEM. Close in both cases. */
int sides_open(struct sides *sides, bool adds_samples_up);
void sides_close(struct sides *sides);

/* Base first. runs: of the side. 0 or -ENOMEM. */
int sides_add(struct sides *sides, enum compare_side side, const struct profile *profile,
              uint32_t runs);

/* After judging: profile and diff are valid then. 0 or -ENOMEM. */
int sides_finish(struct sides *sides, const struct comparison *comparison);

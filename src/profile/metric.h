/* SPDX-License-Identifier: MIT */
/*
 * What an output with a single weight shows: CPU time, off-CPU time, or wall time. Wall time is an
 * event of its own, made of the samples of both; its samples keep their times and calls.
 */
#pragma once

#include "profile/profile.h"

enum profile_metric {
    PROFILE_MAIN_EVENT, /* the main event of the capture */
    PROFILE_CPU,
    PROFILE_OFF_CPU,
    PROFILE_WALL,
    PROFILE_METRICS,
};

#define PROFILE_WALL_NAME "wall"

/* "cpu", "off-cpu", "wall"; NULL of PROFILE_MAIN_EVENT. */
const char *profile_metric_name(enum profile_metric metric);

/* The event of a metric: the main event, else the first that fits; PROFILE_NONE: none. */
uint32_t profile_metric_event(const struct profile *profile, enum profile_metric metric);

/* Makes the metric the main event, after the last sample. Adds the event of wall time. -ENOENT: the
 * profile has no such event. -ENOMEM. */
int profile_set_metric(struct profile *profile, enum profile_metric metric);

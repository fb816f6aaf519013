/* SPDX-License-Identifier: MIT */
/*
 * The table of sources: a source produces sample records.
 */
#pragma once

#include "record/launch/probe.h"
#include "record/options.h"

#include <stddef.h>

struct record_source {
    enum record_engine engine;
    const char *name; /* stable: the value of --engine and of `engine` in a capture */
    const char *description;
    bool is_injected;  /* the sampler takes the samples */
    const char *needs; /* of kernel and privileges */
    /* NULL: available on the probed machine; else the reason, valid as long as the probe. */
    const char *(*refusal)(const struct record_probe *probe);
};

#define RECORD_SOURCES 3
extern const struct record_source record_sources[RECORD_SOURCES]; /* in order of preference */

/* Of off-CPU time, beside each engine. */
enum { RECORD_OFF_CPU_SOURCES = 2 };
extern const struct record_source record_off_cpu_sources[RECORD_OFF_CPU_SOURCES];

/* Hooks of the injected sampler: not a value of --engine, beside each of its engines. */
extern const struct record_source record_hooks;

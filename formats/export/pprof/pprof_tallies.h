/* SPDX-License-Identifier: MIT */
/*
 * Private to the pprof exporter: samples of equal stack, thread and CPU, added up for each event.
 *
 * The format wants a value of every event in every sample. A recording of hundreds of tracepoints has most
 * stacks in one of them, so only what is there is kept.
 */
#pragma once

#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_stack {
    uint32_t call, thread, cpu;
};

struct pprof_tally { /* what a stack has of one event */
    uint32_t event;
    uint32_t next; /* of the same stack; PROFILE_NONE: the last */
    uint64_t count, weight;
};

struct pprof_tallies {
    struct intern *stacks; /* key: struct pprof_stack */
    uint32_t *first;       /* tally, by stack */
    size_t stack_count, stack_capacity;
    struct pprof_tally *tallies;
    size_t tally_count, tally_capacity;
};

/* 0 or -ENOMEM; to be closed in both cases, and when it was all zero. */
int pprof_tallies_open(struct pprof_tallies *tallies);
void pprof_tallies_close(struct pprof_tallies *tallies);

/* 0 or -ENOMEM. */
int pprof_tallies_add(struct pprof_tallies *tallies, const struct profile_sample *sample);

/* index: below stack_count. */
const struct pprof_stack *pprof_tallies_stack(const struct pprof_tallies *tallies, uint32_t index);

/* Fills in zeroed values: how many samples of the main event, then the weight of each event. */
void pprof_tallies_values(const struct pprof_tallies *tallies, uint32_t index, uint32_t main_event,
                          uint64_t *values);

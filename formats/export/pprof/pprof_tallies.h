/* SPDX-License-Identifier: MIT */
/*
 * Private to the pprof exporter: samples of equal stack, thread, CPU and object, added up for each
 * event.
 *
 * In the format every sample has a value of every event. Only existing pairs are stored: in a
 * recording of hundreds of tracepoints, most stacks belong to a single event.
 */
#pragma once

#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_stack {
    uint32_t call, thread, cpu;
    uint32_t object; /* text of a wait's object; 0: none */
};

struct pprof_tally { /* sum of a stack for an event */
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

/* 0 or -ENOMEM. Close in both cases; closing an all-zero struct is allowed. */
int pprof_tallies_open(struct pprof_tallies *tallies);
void pprof_tallies_close(struct pprof_tallies *tallies);

/* 0 or -ENOMEM. */
int pprof_tallies_add(struct pprof_tallies *tallies, const struct profile_sample *sample);

/* One sample of an event, added without an object: moves to the object. 0 or -ENOMEM. */
int pprof_tallies_move(struct pprof_tallies *tallies, const struct profile_sample *sample,
                       uint32_t object);

/* index: below stack_count. */
const struct pprof_stack *pprof_tallies_stack(const struct pprof_tallies *tallies, uint32_t index);

/* Fills in zeroed values: how many samples of the main event, then the weight of each event. */
void pprof_tallies_values(const struct pprof_tallies *tallies, uint32_t index, uint32_t main_event,
                          uint64_t *values);

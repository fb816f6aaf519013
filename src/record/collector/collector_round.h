/* SPDX-License-Identifier: MIT */
/* A round of the collector: the order in collector_state.h. */
#pragma once

#include "record/collector/collector_state.h"

#include <stdbool.h>
#include <stdint.h>

void collector_run_round(struct collector *collector);
/* The time until the next round. */
uint64_t collector_next_wait_ns(struct collector *collector);

/* Looks at the processes in the next round, and in short intervals for a while. */
void collector_look_around_now(struct collector *collector);

bool collector_has_map_requests(struct collector *collector);

/*
 * Takes the maps that the compiler has finished. A sample belongs to the first newer map; later
 * maps may have another library at the same place. Samples taken before a map are therefore
 * finished before the next map is taken.
 */
void collector_take_maps(struct collector *collector);

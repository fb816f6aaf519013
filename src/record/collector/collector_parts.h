/* SPDX-License-Identifier: MIT */
/* The steps of the collector, for tests without its thread. */
#pragma once

#include "record/collector/collector.h"
#include "record/collector/collector_state.h"

/* Zeros. By mmap(): calloc() writes to all of the heap's memory, 3 MiB with the process table. */
struct collector *collector_new(void);

/* Connects the parts and starts their clocks, but no thread. To be freed by collector_free(). 0 or
 * a negative errno. */
int collector_init(struct collector *collector, const struct collector_config *config);

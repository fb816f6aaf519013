/* SPDX-License-Identifier: MIT */
/*
 * Whether the records of context switches cost a program too much. A switch with its two records
 * costs 1.1 us more than a switch without. A new thread inherits an event for each processor, and
 * each event costs 1.7 us for the start and end of the thread: 0.2 ms with 128 processors. More
 * than 3 % of the CPU time of the program, or of one processor if the program uses less, is too
 * much.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct switch_storm { /* a window: its begin, and the sums then */
    uint64_t begin_ns, records, starts, on_ns;
};

struct storm_rates { /* a second, in the window; zeros: no storm */
    uint64_t switches, starts;
};

/* Ends the window, and begins the next one. now: its begin, records and started threads so far, and
 * CPU time of all threads so far; events: number inherited by each thread. */
struct storm_rates switch_storm_find(struct switch_storm *window, const struct switch_storm *now,
                                     size_t events);

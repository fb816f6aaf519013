/* SPDX-License-Identifier: MIT */
/*
 * Whether the records of context switches cost a program too much. A switch with its two records
 * costs 1.1 us more than a switch without; more than 3 % of the CPU time of the program, or of one
 * processor if the program uses less, is too much.
 */
#pragma once

#include <stdint.h>

struct switch_storm { /* a window: its begin, and the sums then */
    uint64_t begin_ns, records, on_ns;
};

/* Ends the window, and begins the next one. records: so far; on_ns: CPU time of all threads so far.
 * The switches a second of the window, if these cost too much; else 0. */
uint64_t switch_storm_find(struct switch_storm *window, uint64_t now_ns, uint64_t records,
                           uint64_t on_ns);

/* SPDX-License-Identifier: MIT */
/*
 * Limits the CPU time for reading the debug info of a file. Its tables refer to each other: hostile
 * functions share a list of 100 000 ranges, hostile units a declaration of a million attributes,
 * and 3 MiB take an hour. Lookups in finished tables do not count.
 *
 *     limit of a file = 60 ms for each MiB on disk, with split units
 *                     + what is left of SYMBOLS_RESERVE_NS, for all files of a conversion together
 *
 * Honest files leave the reserve untouched. A call into libdw that does not return by then ends its
 * worker 5 s of CPU time later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reading_clock {
    uint64_t own_ns;     /* by the bytes */
    uint64_t reserve_ns; /* left for this file */
    uint64_t used_ns;
    uint64_t begin_cpu_ns; /* of the present reading */
    uint64_t look_ns;      /* the next look at the CPU time */
    bool is_over;
};

/* bytes: of the file. */
struct reading_clock reading_clock_for(uint64_t bytes, uint64_t reserve_ns);
/* More bytes are to be read. */
void reading_clock_extend(struct reading_clock *clock, uint64_t bytes);
/* False: no time is left. True: to be followed by reading_clock_end(). */
bool reading_clock_begin(struct reading_clock *clock);
void reading_clock_end(struct reading_clock *clock);
/* Cheap: for each entry of a table. */
bool reading_clock_is_over(struct reading_clock *clock);
/* What the file took of the reserve. */
uint64_t reading_clock_taken_ns(const struct reading_clock *clock);

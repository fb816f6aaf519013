/* SPDX-License-Identifier: MIT */
#include "record/sample/finished_round.h"

#define ROUND_NS 100000000
#define ROUND_MAX_NS 1000000000
#define ROUND_BYTES (1u << 20)

void finished_round_write(struct finished_round *round, struct perfdata_writer *file,
                          const struct finished_round_facts *facts)
{
    uint64_t bytes = perfdata_bytes_written(file) - round->begin_bytes;
    uint64_t age_ns = facts->now_ns - round->end_ns;
    if (bytes == 0 || (age_ns < ROUND_NS && bytes < ROUND_BYTES))
        return;
    if (facts->has_pending || (age_ns < ROUND_MAX_NS && facts->has_map_requests))
        return;
    perfdata_write_round(file);
    round->begin_bytes = perfdata_bytes_written(file);
    round->end_ns = facts->now_ns;
}

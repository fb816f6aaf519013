/* SPDX-License-Identifier: MIT */
#include "record/sample/finished_round.h"

/* A round ends after ROUND_BYTES, or after ROUND_NS with any record. Up to ROUND_MAX_NS, it waits
 * for samples and mappings under way: these are older than the mark would be. */
#define ROUND_NS 100000000
#define ROUND_MAX_NS 1000000000
#define ROUND_BYTES (1u << 20)

bool finished_round_is_due(const struct finished_round *round, const struct perfdata_writer *file,
                           uint64_t now_ns)
{
    uint64_t bytes = perfdata_bytes_written(file) - round->begin_bytes;
    if (now_ns - round->end_ns < round->hold_ns)
        return false;
    return bytes >= ROUND_BYTES || (bytes > 0 && now_ns - round->end_ns >= ROUND_NS);
}

void finished_round_write(struct finished_round *round, struct perfdata_writer *file,
                          const struct finished_round_facts *facts)
{
    uint64_t age_ns = facts->now_ns - round->end_ns;
    if (!finished_round_is_due(round, file, facts->now_ns))
        return;
    bool can_wait = age_ns < ROUND_MAX_NS;
    if (facts->has_pending || (can_wait && (facts->has_map_requests || facts->has_left)))
        return;
    perfdata_write_round(file);
    round->begin_bytes = perfdata_bytes_written(file);
    round->end_ns = facts->now_ns;
}

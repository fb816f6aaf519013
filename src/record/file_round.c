/* SPDX-License-Identifier: MIT */
/*
 * Rounds of the file, of which there are fewer than of the collector: readers sort within two of them, and hotspot is
 * done with the older half of one when it ends. So they are much longer than anything is under way, mappings above all,
 * and not so long that readers have to keep much.
 */
#include "record/collector_parts.h"

#define ROUND_NS 100000000
#define ROUND_MAX_NS 1000000000
#define ROUND_BYTES (1u << 20)

static bool has_map_under_way(const struct collector *collector)
{
    for (size_t i = 0; i < collector->live_count; i++)
        if (collector->images[collector->live[i]].map_requests)
            return true;
    return false;
}

void file_round_end(struct collector *collector)
{
    uint64_t bytes = perfdata_bytes_written(collector->writer) - collector->file_round_begin;
    uint64_t age_ns = collector->round_ns - collector->file_round_ns;
    if (bytes == 0 || (age_ns < ROUND_NS && bytes < ROUND_BYTES))
        return;
    /* What waits is older than what follows: samples, and mappings, which come within a second or not at all. */
    if (collector->miss_count || (age_ns < ROUND_MAX_NS && has_map_under_way(collector)))
        return;
    perfdata_write_round(collector->writer);
    collector->file_round_begin = perfdata_bytes_written(collector->writer);
    collector->file_round_ns = collector->round_ns;
}

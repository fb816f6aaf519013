/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/mapping_room.h"

#include "base/budget.h"
#include "record/tables/maps/process_map.h"

/* Each process may add BYTES_FOR_MAPPING for each mapping of its budget, at once and then every
 * RATE_S seconds; all processes together ALL_PROCESSES times as much. */
enum { BYTES_FOR_MAPPING = 512, RATE_S = 8, ALL_PROCESSES = 16 };

/* Refills the room up to `most` bytes. */
static void refill(struct mapping_room *room, uint64_t most, uint64_t now_ns)
{
    uint64_t ms = now_ns > room->filled_ns ? (now_ns - room->filled_ns) / 1000000 : 0;
    bool is_full = room->filled_ns == 0 || ms >= RATE_S * UINT64_C(1000);
    uint64_t more = is_full ? most : most / RATE_S * ms / 1000;
    if (ms > 0)
        room->filled_ns = now_ns;
    room->bytes = more < most - room->bytes ? room->bytes + more : most;
}

bool mapping_room_take(struct mapping_room *process, struct mapping_room *shared,
                       uint64_t path_bytes, uint64_t now_ns)
{
    uint64_t need = sizeof(struct process_mapping) + path_bytes;
    uint64_t most = budget_amount(BUDGET_MAPPINGS) * BYTES_FOR_MAPPING;
    refill(process, most, now_ns);
    refill(shared, most * ALL_PROCESSES, now_ns);
    if (need > process->bytes || need > shared->bytes)
        return false;
    process->bytes -= need;
    shared->bytes -= need;
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/map_request.h"

static void request(struct compiler *compiler, struct process *process, struct proc_maps *mappings,
                    uint64_t read_ns)
{
    const struct map_target target = {.pid = process->pid,
                                      .slot = process->slot,
                                      .memory = process->memory,
                                      .rights = process->rights};
    if (compiler_request_map(compiler, &target, mappings, read_ns) == 0)
        process->map_requests++;
}

void map_request(struct compiler *compiler, struct process *process, uint64_t now_ns)
{
    if (process->engine == ENGINE_NONE || process->has_ended)
        return;
    process->map_requested_ns = now_ns;
    request(compiler, process, NULL, 0);
}

/* The mappings of the handshake were read at the start, so the map is dated there. */
void map_request_first(struct compiler *compiler, struct process *process)
{
    if (process->first_mappings.count == 0)
        return;
    process->map_requested_ns = process->start_ns;
    request(compiler, process, &process->first_mappings, process->start_ns);
}

void map_request_for_thread_end(struct compiler *compiler, struct process *process,
                                uint64_t time_ns)
{
    if (process->map)
        return;
    map_request_first(compiler, process);
    bool is_first = process->unmapped_ns == 0 || time_ns < process->unmapped_ns;
    if (process->map_requests > 0 && is_first)
        process->unmapped_ns = time_ns;
}

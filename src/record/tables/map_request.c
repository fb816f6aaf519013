/* SPDX-License-Identifier: MIT */
#include "record/tables/map_request.h"

void map_request(struct compiler *compiler, struct process *process, uint64_t now_ns)
{
    if (process->engine == ENGINE_NONE || process->has_ended)
        return;
    process->map_requested_ns = now_ns;
    if (compiler_request_map(compiler, process->pid, process->slot, &process->rights, NULL, 0) == 0)
        process->map_requests++;
}

void map_request_first(struct compiler *compiler, struct process *process)
{
    if (process->first_mappings.count == 0)
        return;
    process->map_requested_ns = process->start_ns;
    if (compiler_request_map(compiler, process->pid, process->slot, &process->rights,
                             &process->first_mappings, process->start_ns) == 0)
        process->map_requests++;
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

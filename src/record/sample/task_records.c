/* SPDX-License-Identifier: MIT */
#include "record/sample/task_records.h"

#include "record/sample/synthetic.h"

#include <sys/mman.h>

struct perfdata_task task_record(const struct process *process, pid_t tid, pid_t parent_pid,
                                 uint64_t time_ns)
{
    return (struct perfdata_task){
        .pid = (uint32_t)process->pid,
        .tid = (uint32_t)tid,
        .parent_pid = (uint32_t)parent_pid,
        .parent_tid = (uint32_t)parent_pid,
        .time_ns = time_ns,
    };
}

/* Mappings of the program before are gone for readers after the COMM of the start. */
static bool is_mapped(const struct process *process, enum synthetic kind, uint64_t time_ns)
{
    uint64_t since_ns = process->synthetic_since_ns[kind];
    return since_ns && since_ns <= time_ns &&
           (since_ns >= process->start_ns || time_ns < process->start_ns);
}

void task_map_synthetic(struct perfdata_writer *file, struct process *process,
                        const uint64_t *frames, size_t count, uint64_t time_ns)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t kind = (frames[i] - SYNTHETIC_BASE) / SYNTHETIC_BYTES;
        if (frames[i] < SYNTHETIC_BASE || kind >= SYNTHETICS ||
            is_mapped(process, (enum synthetic)kind, time_ns))
            continue;
        struct perfdata_mapping mapping = {
            .pid = (uint32_t)process->pid,
            .tid = (uint32_t)process->pid,
            .time_ns = time_ns,
            .start_avma = SYNTHETIC_BASE + SYNTHETIC_BYTES * kind,
            .bytes = SYNTHETIC_BYTES,
            .protection = PROT_READ | PROT_EXEC,
            .path = synthetic_name((enum synthetic)kind),
        };
        perfdata_write_mapping(file, &mapping);
        process->synthetic_since_ns[kind] = time_ns;
    }
}

void task_write_start(struct perfdata_writer *file, const struct process *process, bool is_exec)
{
    struct perfdata_task task =
        task_record(process, process->pid, process->parent_pid, process->start_ns);
    /* Readers copy the parent's mappings at the FORK; earlier records of the child would be
     * lost. */
    struct perfdata_task fork = task;
    fork.time_ns--;
    if (!is_exec)
        perfdata_write_fork(file, &fork);
    /* A COMM with the exec bit drops the copied mappings; for a forked child, all mappings are
     * written again. */
    perfdata_write_comm(file, &task, process->name, true);
}

void task_write_exit(struct perfdata_writer *file, const struct process *process, uint64_t now_ns)
{
    struct perfdata_task task =
        task_record(process, process->pid, process->parent_pid, process_end_ns(process, now_ns));
    perfdata_write_exit(file, &task);
}

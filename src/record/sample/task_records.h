/* SPDX-License-Identifier: MIT */
/* Writes the records of processes and threads: FORK, COMM, EXIT, and the mappings of synthetic
 * frames. */
#pragma once

#include "perfdata/writer.h"
#include "record/process/process_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A FORK or EXIT record of a thread; with the process' own pid, of the process. */
struct perfdata_task task_record(const struct process *process, pid_t tid, pid_t parent_pid,
                                 uint64_t time_ns);

/* FORK, unless the file has a program of this pid already; COMM. */
void task_write_start(struct perfdata_writer *file, const struct process *process, bool is_exec);

/* Maps the synthetic frames of a sample in its process at their first use, and once more for an
 * older sample: hotspot discards mappings much older than the records before them. */
void task_map_synthetic(struct perfdata_writer *file, struct process *process,
                        const uint64_t *frames, size_t count, uint64_t time_ns);

void task_write_exit(struct perfdata_writer *file, const struct process *process, uint64_t now_ns);

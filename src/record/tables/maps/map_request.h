/* SPDX-License-Identifier: MIT */
/* Requests for the mappings of a process: compiled maps arrive later, see process_maps.h. */
#pragma once

#include "record/tables/compiler.h"
#include "record/process/process_table.h"

#include <stdint.h>

/* Requests a new map. No effect for an unsampled or ended process. */
void map_request(struct compiler *compiler, struct process *process, uint64_t now_ns);

/* Requests a map of the mappings read in the handshake, once: for a process above a minimum of
 * CPU time, or with a sample. */
void map_request_first(struct compiler *compiler, struct process *process);

/* At the end of a thread, with the EXIT record written at once: a first map still to come must
 * be dated before the record. */
void map_request_for_thread_end(struct compiler *compiler, struct process *process,
                                uint64_t time_ns);

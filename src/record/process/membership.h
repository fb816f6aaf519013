/* SPDX-License-Identifier: MIT */
/*
 * Proofs that a process belongs to this recording, which no other process can forge: its mappings,
 * as the kernel lists them, and its descent.
 *
 *     the session's rings are mapped (device and inode)
 *     its mark lies in private anonymous memory
 *     its parents lead to the launcher or to a recorded process, or the session's invitation stands in
 *     the environment that it was executed with
 *
 * The name of a mapping proves nothing: any process may have a memfd of that name.
 */
#pragma once

#include "record/procfs/proc_maps.h"
#include "record/process/process_table.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads the mappings, for proc_maps_free() in any case. True: rings and mark are as in a process
 * with the sampler. */
bool membership_read_maps(const struct session *session, pid_t pid, uint64_t mark_avma,
                          struct proc_maps *mappings);
/* The same without the list of mappings, which takes 3 us. */
bool membership_is_shown(const struct session *session, pid_t pid, uint64_t mark_avma);
/* The session's rings are mapped, whatever else. */
bool membership_has_rings(const struct session *session, pid_t pid);

/* The process descends from the command. */
bool membership_descends(const struct session *session, const struct process_table *processes,
                         pid_t pid);

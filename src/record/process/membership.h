/* SPDX-License-Identifier: MIT */
/*
 * Proofs from the kernel for the membership of a process in this recording:
 *
 *     the process maps the memory of the request, by device and inode
 *     the parents lead to the launcher or to a recorded process, or the session's invitation is in
 *     the environment of the last execve()
 *
 * The name of a mapping proves nothing: any process may have a memfd of that name.
 */
#pragma once

#include "record/process/process_table.h"
#include "record/procfs/maps/proc_maps.h"
#include "record/session/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_memory {
    uint64_t inode;
    uint64_t from_avma; /* as stated by the process: nothing below is searched */
};
/* Reads the mappings, for proc_maps_free() in any case. True: the memory is mapped. */
bool membership_read_maps(const struct session *session, pid_t pid, struct mapped_memory memory,
                          struct proc_maps *mappings);
/* The same without the list of mappings, which takes 3 us. */
bool membership_maps(const struct session *session, pid_t pid, struct mapped_memory memory);
/* The session's requests are mapped, as in a forked child without a memory of its own. */
bool membership_maps_session(const struct session *session, pid_t pid);

/* The process is recorded, and lives. */
bool membership_has(const struct process_table *processes, pid_t pid);
/* The process descends from the command. parent: of the process; 0: unknown. */
bool membership_descends(const struct session *session, const struct process_table *processes,
                         pid_t pid, pid_t parent);

/* SPDX-License-Identifier: MIT */
/* Begins with the threads of a running process. */
#pragma once

#include "record/off_cpu/records/off_records.h"
#include "record/off_cpu/records/off_rings.h"

#include <stddef.h>
#include <sys/types.h>

/* Opens the events of all threads of the process, or of tids, and enters the threads. New threads
 * inherit the events. 0, or the negative errno for the first refused thread; -ESRCH: no thread is
 * left. */
int off_attach(struct off_rings *rings, struct off_records *records, pid_t pid, const pid_t *tids,
               size_t tid_count);

/* Enters the user threads of the system, or of a cgroup (path below the mount point; NULL: none),
 * except those of rec. */
void off_attach_system(struct off_records *records, const char *cgroup);

/* SPDX-License-Identifier: MIT */
/*
 * The collector thread: answers processes, reads rings, finishes stacks, closes accounts. The only
 * writer of rec.data. Its parts: collector_parts.h.
 */
#pragma once

#include "record/collector/collector_config.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

int collector_start(struct collector **out, const struct collector_config *config,
                    struct error *error);
/* The command's pid, once known. From any thread. */
void collector_set_root(struct collector *collector, pid_t pid);
/* Atomic, enum record_end; set before launch_call() when the file reaches a limit: the recording
 * should end. */
const uint32_t *collector_full(const struct collector *collector);
/* Processes running at the end of the last round, as far as tracked. From any thread. */
uint32_t collector_running(const struct collector *collector);
/* Ends the thread after a last round for the rest of the rings. The command is a zombie, or
 * still runs. */
void collector_stop(struct collector *collector, bool command_runs);
/* After collector_stop(): CPU time of the tree outside of the command's rusage. */
uint64_t collector_live_ns(const struct collector *collector);
void collector_free(struct collector *collector);

/* SPDX-License-Identifier: MIT */
/*
 * The collector thread: answers processes, drains rings, finishes misses, settles accounts, and is the
 * only one that writes rec.data. This is what whoever starts it sees; its parts see collector_parts.h.
 */
#pragma once

#include "base/error.h"
#include "perfdata/writer.h"
#include "record/compiler.h"
#include "record/record.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

int collector_start(struct collector **out, struct session *session, struct compiler *compiler,
                    struct perfdata_writer *writer, const struct record_options *options,
                    struct record_summary *summary, bool may_arm, struct error *error);
/* The command's pid, once known. */
void collector_set_root(struct collector *collector, pid_t pid);
/* Atomic; set when the file has the size that was asked for, before launch_call(): the recording should end. */
const uint32_t *collector_full(const struct collector *collector);
/* How many processes were there at the end of the last round, as far as they had been met. */
uint32_t collector_running(const struct collector *collector);
/* Ends the thread after a last round that drains everything. The command is dead but not yet reaped, or
 * still runs. */
void collector_stop(struct collector *collector, bool command_runs);
/* What follows is for after that. CPU time of the tree that is not in the command's bill. */
uint64_t collector_live_ns(const struct collector *collector);
/* program: the command's, should it never have joined. billed_ns: what the kernel bills the tree. */
void collector_settle_tree(struct collector *collector, const char *program, uint64_t billed_ns,
                           uint64_t end_ns);
void collector_free(struct collector *collector);

/* SPDX-License-Identifier: MIT */
/*
 * The collector thread: answers processes, reads rings, finishes stacks, closes accounts. The only
 * writer of rec.data. Its parts: collector_parts.h.
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/writer.h"
#include "record/tables/compiler.h"
#include "record/options.h"
#include "record/summary.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

/* All borrowed, until collector_free(). */
struct collector_config {
    struct session *session;
    struct compiler *compiler;
    struct perfdata_writer *writer;
    const struct record_options *options;
    struct record_summary *summary;
    struct open_file_cache *open_files;
    bool may_arm;                 /* perf-trap is requested, and permitted for this user */
    struct off_recorder *off_cpu; /* opened, not started; NULL: not recorded */
    pid_t outside_pid; /* the waiting command, to be recorded by perf-ring; 0: by the sampler */
};

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
/* All further functions: after collector_stop(). CPU time of the tree outside of the command's
 * rusage. */
uint64_t collector_live_ns(const struct collector *collector);
/* program: of the command, in case it never joined. billed_ns: the kernel's figure for the tree. */
void collector_settle_tree(struct collector *collector, const char *program, uint64_t billed_ns,
                           uint64_t end_ns);
void collector_free(struct collector *collector);

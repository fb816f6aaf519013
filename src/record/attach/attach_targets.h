/* SPDX-License-Identifier: MIT */
/* The targets of a recording from outside: processes, threads, a cgroup, or the system. */
#pragma once

#include "base/text/error.h"
#include "record/attach/refusal.h"
#include "record/off_cpu/off_recorder.h"
#include "record/options.h"
#include "record/perf_ring/ring_source.h"
#include "record/summary.h"

/* Checks running processes and threads before anything is opened; summary->target gets the name of
 * what is recorded: "the system", "process 12 (sh)". 0, or a negative errno with the rule. */
int attach_targets_check(const struct record_options *options, const struct own_rights *own,
                         struct record_summary *summary, struct error *error);

/* Opens the events of all targets, the processes of pid_fds (pid_fd.h). 0, or a negative errno with
 * the rule. */
int attach_targets_open(struct ring_source *source, const struct record_options *options,
                        const int *pid_fds, const struct own_rights *own, struct error *error);

/* Opens the off-CPU events of running processes and threads. */
int attach_targets_add_off_cpu(struct off_recorder *off_cpu, const struct record_options *options,
                               const int *pid_fds, const struct own_rights *own,
                               struct error *error);

/* SPDX-License-Identifier: MIT */
/*
 * A recording of running processes, by the perf-ring engine. The targets are neither stopped nor
 * signalled, and nothing is left in them: closing the descriptors of the events ends the recording.
 *
 *     check targets ─▶ open events ─▶ drain rings ─▶ duration, signal, or last exit ─▶ close
 */
#pragma once

#include "base/text/error.h"
#include "record/record.h"

/* Records options->targets. 0: the file is complete; otherwise the error holds the cause. The
 * result is as after record_run() of a command with status 0; result->started: the recording took
 * place. */
int record_attach(const struct record_options *options, struct record_result *result,
                  struct error *error);

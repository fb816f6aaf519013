/* SPDX-License-Identifier: MIT */
/*
 * A recording: starts the command under the sampler, collects, writes rec.data. The result holds
 * everything for the user; this layer prints nothing.
 */
#pragma once

#include "base/text/error.h"
#include "record/session/preload_path.h"
#include "record/tables/files/open_file_cache.h"
#include "record/launch/launch.h"
#include "record/options.h"
#include "record/session/session.h"
#include "record/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct record_result {
    bool started;    /* the command ran */
    bool is_running; /* the command still runs: record_wait() must be called */
    bool was_ended;  /* the command got SIGTERM, as requested by options->end_command */
    struct launch launch;
    char sampler_path[PRELOAD_PATH_BYTES]; /* for LD_PRELOAD */
    struct open_file_cache
        open_files;        /* mapped files gone from their paths; for open_file_cache_free() */
    bool has_target_ended; /* of running processes: none is left */
    int wait_status;       /* as from waitpid(), if started and not running */
    int exit_status;       /* if not started: 125, 126 or 127 */
    struct record_summary summary;
};

/* 0: the recording ended and the file is complete. Otherwise the error holds the cause; the command
 * may have run all the same (result->started). */
int record_run(const struct record_options *options, struct record_result *result,
               struct error *error);

/* Waits for the end of the command and sets wait_status: forwards signals and stops together with
 * the command, as while recording. */
void record_wait(struct record_result *result);

/* SPDX-License-Identifier: MIT */
/*
 * One recording: starts the command under the sampler, collects, writes rec.data. Everything that a user
 * sees of it is in the result; nothing is printed here.
 */
#pragma once

#include "base/error.h"
#include "record/launch/preload_path.h"
#include "record/tables/open_file_cache.h"
#include "record/launch/launch.h"
#include "record/options.h"
#include "record/session.h"
#include "record/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct record_result {
    bool started;    /* the command ran */
    bool is_running; /* and still does: record_wait() must be called */
    bool was_ended;  /* it was asked to end, as options->end_command wants */
    struct launch launch;
    char sampler_path[PRELOAD_PATH_BYTES]; /* for LD_PRELOAD */
    struct open_file_cache
        open_files; /* what was mapped and is gone from its path; for open_file_cache_free() */
    struct session session; /* over; for session_close(): 1.4 ms for the 4 MiB of a build */
    int wait_status;        /* as from waitpid, when started and not running */
    int exit_status;        /* when not started: 125, 126 or 127 */
    struct record_summary summary;
};

/* 0: the recording ended and its file is complete. Otherwise the error says what failed; result->started
 * tells whether the command ran all the same. */
int record_run(const struct record_options *options, struct record_result *result,
               struct error *error);

/* Until the command ends: passes on signals and stops with it, as while recording; then wait_status is
 * known. */
void record_wait(struct record_result *result);

/* SPDX-License-Identifier: MIT */
/* Configuration of the collector. */
#pragma once

#include "base/text/error.h"
#include "perfdata/writer.h"
#include "record/options.h"
#include "record/session/session.h"
#include "record/summary.h"
#include "record/tables/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
    pid_t kernel_pid;  /* the same, for kernel samples next to the sampler; 0: none */
};

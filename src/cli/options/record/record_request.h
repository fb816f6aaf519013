/* SPDX-License-Identifier: MIT */
/* The parsed command line of `rec record`. */
#pragma once

#include "cli/files/outputs.h"
#include "cli/options/target_list.h"
#include "record/options.h"

struct record_request {
    struct record_options options; /* without the output, set after parsing */
    struct outputs outputs;
    const char *period;          /* of -c; NULL: none */
    bool has_frequency;          /* of -F */
    const char *output_name;     /* the last -o; NULL: none */
    size_t output_names;         /* number of -o */
    bool view;                   /* open the capture afterwards */
    unsigned long repeat;        /* runs of the command; 0: no --repeat */
    struct target_list targets;  /* of -p, -t or -u */
    const char *debug_directory; /* NULL: the default */
    uint64_t memory_bytes;       /* limit of converting the capture; 0: the default */
    bool use_debuginfod;
    bool symbols_only; /* neither inlined functions nor lines */
    struct export_options export_options;
    uint64_t stuck_after_ns; /* of the summary */
    bool quiet, verbose;
    bool fails_on_incomplete; /* --fail-on */
    double incomplete_max_percent;
    bool help, version;
};

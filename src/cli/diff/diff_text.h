/* SPDX-License-Identifier: MIT */
/* The output of `rec diff`, as text or JSON. */
#pragma once

#include "base/containers/buffer.h"
#include "cli/options/diff_options.h"
#include "compare/compare.h"
#include "profile/profile.h"

struct diff_view {
    const struct diff_request *request;
    const struct comparison *comparison; /* judged */
    const char *event;
    const char *time; /* of values in ns; NULL: counts */
    bool fails;       /* by --fail-on */
};

/* Prints to standard output, for this width. */
void diff_print(const struct diff_view *view, unsigned columns);

/* A JSON object, "version": 1. */
void diff_json(const struct diff_view *view, struct buffer *out);

/* "grown", "noise", … */
const char *diff_verdict_name(enum compare_verdict verdict);

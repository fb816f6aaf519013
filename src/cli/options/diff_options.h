/* SPDX-License-Identifier: MIT */
/* The command line of `rec diff`. */
#pragma once

#include "cli/files/inputs.h"
#include "cli/files/outputs.h"
#include "compare/compare.h"
#include "convert/options.h"

enum diff_fail_on { DIFF_FAIL_REGRESSION, DIFF_FAIL_CHANGE, DIFF_FAIL_NEVER };

struct diff_request {
    struct inputs sides[COMPARE_SIDES];
    struct convert_options from;
    struct compare_settings settings;
    struct outputs outputs;
    enum diff_fail_on fail_on;
    bool json, short_names, help;
};

/* 0, or -EINVAL or -ENOMEM with a message. */
int diff_request_parse(struct diff_request *request, char *const *words, struct error *error);
void diff_request_free(struct diff_request *request);

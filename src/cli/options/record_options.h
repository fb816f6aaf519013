/* SPDX-License-Identifier: MIT */
/* The command line of `rec record`, and of `rec` without a command's name. */
#pragma once

#include "cli/options/record/record_request.h"

/* 0, or -EINVAL with a message. Parsing stops at --help and --version. */
int record_request_parse(struct record_request *request, char *const *words, struct error *error);
void record_request_free(struct record_request *request);

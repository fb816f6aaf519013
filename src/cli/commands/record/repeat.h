/* SPDX-License-Identifier: MIT */
/* `rec --repeat N -o DIR/ -- COMMAND`: a capture for each run. */
#pragma once

#include "cli/options/record_options.h"

/* Calls record() in a process for each run, with the next capture of the directory. Returns the
 * exit status, or ends by a signal: the worst run's. */
int repeat_record(struct record_request *request, int (*record)(struct record_request *request));

/* SPDX-License-Identifier: MIT */
/* Values of the options of `rec record`, with their limits. Each function stores the value; 0, or a
 * negative errno with a message. */
#pragma once

#include "base/text/error.h"
#include "cli/options/record/record_request.h"

/* -F: a number, or max. */
int record_value_frequency(struct record_request *request, const char *value, struct error *error);
/* Also selects the recorder off-cpu. */
int record_value_off_cpu_interval(struct record_request *request, const char *value,
                                  struct error *error);
/* value NULL: the default. */
int record_value_self_check(struct record_request *request, const char *value, struct error *error);
int record_value_fail_on(struct record_request *request, const char *value, struct error *error);
int record_value_delay(struct record_request *request, const char *value, struct error *error);
/* value NULL: the fastest level. */
int record_value_compression(struct record_request *request, const char *value,
                             struct error *error);
/* Budgets of the whole process. */
int record_value_mappings(const char *value, struct error *error);
int record_value_frames(const char *value, struct error *error);
/* Of the conversion, and of the tables of the recording. */
int record_value_memory(struct record_request *request, const char *value, struct error *error);

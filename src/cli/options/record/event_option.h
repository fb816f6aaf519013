/* SPDX-License-Identifier: MIT */
/* -e, and the options of perf record for the kernel's part of the samples. */
#pragma once

#include "base/text/error.h"
#include "record/options.h"

/* EVENT[:MODIFIERS][,...]. 0, or a negative errno with a message. */
int event_option_parse(struct record_options *options, const char *text, struct error *error);

/* -c, and whether -F was given: for all events. 0, or -EINVAL with a message. */
int event_option_rate(struct record_options *options, const char *period, bool has_frequency,
                      struct error *error);

/* -k. rec dates all samples by the monotonic clock. */
int event_option_clock(const char *name, struct error *error);

/* --kernel, --all-kernel, --kernel-callchains, --all-user, by their ids. */
void event_option_kernel(struct record_options *options, int id);

/* Carries the modes over to all events. Whether the options fit together: 0, or -EINVAL with a
 * message. */
int event_option_check(struct record_options *options, struct error *error);

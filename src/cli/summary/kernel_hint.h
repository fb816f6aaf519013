/* SPDX-License-Identifier: MIT */
/* A program that spends its time in the kernel has few samples, and no functions there: a line
 * with the share, and the way to these functions. */
#pragma once

#include "profile/profile.h"
#include "record/options.h"
#include "record/summary.h"

struct kernel_hint {
    char text[768]; /* empty: a small share, or the recording has kernel functions */
};

/* Opens perf events and reads /proc: not for a confined process. */
struct kernel_hint kernel_hint_of_recording(const struct record_options *options,
                                            const struct record_summary *summary);

/* By the summary in the capture, and the samples of the main event. */
struct kernel_hint kernel_hint_of_capture(const struct profile *profile);

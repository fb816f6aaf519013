/* SPDX-License-Identifier: MIT */
/* The off-CPU part of the summary. */
#pragma once

#include "record/off_cpu/off_loop.h"
#include "record/summary.h"

/* The sums and counts of an ended loop. The texts of its objects move into the summary. */
void off_summary_take(struct off_loop *loop, struct record_off_cpu *summary);

/* SPDX-License-Identifier: MIT */
/* The time range of a profile, its wall time, and starts missing in processes and threads. */
#pragma once

#include "convert/load/load_state.h"

void load_set_times(struct loader *loader);

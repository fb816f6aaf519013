/* SPDX-License-Identifier: MIT */
/* Connects the parts of a recording. */
#pragma once

#include "record/collector/collector_state.h"

/* Sets the borrowed pointers and constants of each part, from collector->config. */
void collector_connect(struct collector *collector);

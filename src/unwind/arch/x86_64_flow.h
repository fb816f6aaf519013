/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/code/code_flow.h"

/* Follows the function of x86-64 code that starts at the byte. False: refused, and no state was
 * changed. */
bool x86_64_flow_follow(struct flow *flow, size_t start);

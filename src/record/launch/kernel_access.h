/* SPDX-License-Identifier: MIT */
/* Whether rec may record kernel stacks with names. */
#pragma once

#include "base/text/error.h"

/* 0, or a negative errno, and the rule with the remedy. */
int kernel_access_check(struct error *reason);

/* The same for a recording: the message is a sentence. */
int kernel_access_require(struct error *error);

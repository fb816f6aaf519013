/* SPDX-License-Identifier: MIT */
/* Which program files take the two variables. */
#pragma once

#include <stdbool.h>

/* False for a program disturbed by the variables; true when in doubt. Async-signal-safe. */
bool exec_target_takes_variables(const char *path);

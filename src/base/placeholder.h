/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whether a name is no name but a place: functions without one are called "libfoo.so.1+0x1234", after their
 * module and where they begin in it. */
bool name_is_placeholder(const char *name);

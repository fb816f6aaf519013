/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PROCESSORS_MAX = 4096 };

/* The processors of a list as "0-3,6"; text NULL: all that are online. Returns their number, at
 * most room. */
size_t processors_list(const char *text, uint32_t *list, size_t room);

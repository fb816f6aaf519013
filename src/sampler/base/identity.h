/* SPDX-License-Identifier: MIT */
/* Whether the calling process has joined itself. */
#pragma once

#include <stdbool.h>

/* True in a vfork child, on the state of its parent, and in a child of a raw clone(). Makes a
 * system call. Async-signal-safe. */
bool process_is_another(void);

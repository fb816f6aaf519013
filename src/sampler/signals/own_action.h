/* SPDX-License-Identifier: MIT */
/* The kernel's action for the sampler's signal: the sampler's handler. */
#pragma once

#include <stdbool.h>

/* Replaces the program's action by the handler, and keeps the action (program_action.h). False when
 * the kernel refuses. Not async-signal-safe. */
bool own_action_install(int signal);
/* Gives the program's action back to the kernel. Not async-signal-safe. */
void own_action_uninstall(void);

/* The kernel drops the signal, also pending instances. Async-signal-safe. */
void own_action_ignore(void);
/* Ends own_action_ignore(). Async-signal-safe. */
void own_action_restore(void);

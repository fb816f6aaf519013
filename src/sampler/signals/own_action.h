/* SPDX-License-Identifier: MIT */
/* The kernel's action for the sampler's signal: the sampler's handler. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Replaces the program's action by the handler, and keeps the action (program_action.h). False when
 * the kernel refuses. Not async-signal-safe. */
bool own_action_install(int signal);
/* Gives the program's action back to the kernel. Not async-signal-safe. */
void own_action_uninstall(void);

/* If the program ignores the signal, the kernel ignores the signal from now on, too, and an
 * executed program inherits this state. True after a change: then the second function puts the
 * handler back. Async-signal-safe. */
bool own_action_show_ignored(void);
void own_action_hide_ignored(void);

/* The kernel drops the signal, also pending instances. False when the kernel refuses.
 * Async-signal-safe. */
bool own_action_ignore(void);
/* Ends own_action_ignore(). Async-signal-safe. */
void own_action_restore(void);

/* A bit for each ignored signal: not blocked while the handler runs. Async-signal-safe. */
void own_action_add_ignored(uint64_t signals);
void own_action_remove_ignored(uint64_t signals);

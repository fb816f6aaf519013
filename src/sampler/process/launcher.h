/* SPDX-License-Identifier: MIT */
/* The launcher as the target sees it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* True if the launcher cannot reply. Not async-signal-safe. */
bool launcher_is_stale(void);
/* Wakes the launcher. Not async-signal-safe. */
void ring_doorbell(void);
/* Wakes the launcher and waits until the launcher has raised the word to this value. False if the
 * launcher does not run, or after the time limit. Not async-signal-safe. */
bool launcher_await(uint32_t *word, uint32_t value, uint64_t longest_ns);

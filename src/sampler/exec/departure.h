/* SPDX-License-Identifier: MIT */
/* Before the exec of a program without a sampler: the launcher opens events on the process. */
#pragma once

#include "sampler/exec/exec_target.h"

/* Waits for the launcher, in a vfork child too. No effect for other programs. Async-signal-safe. */
void departure_announce(enum exec_kind kind);
/* The exec failed. Async-signal-safe. */
void departure_forget(void);

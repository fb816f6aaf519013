/* SPDX-License-Identifier: MIT */
/* A timer for each sampled thread, over the CPU time of the thread. */
#pragma once

#include "sampler/base/state.h"

/* Starts the timer of the calling thread. Not async-signal-safe. */
void timer_start(struct thread_state *thread);
/* Async-signal-safe (makes a system call). */
void timer_stop(struct thread_state *thread);
/* Stops the timers of all threads of the process. Not async-signal-safe. */
void timer_stop_all(void);

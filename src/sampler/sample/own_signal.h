/* SPDX-License-Identifier: MIT */
/* Signals of the sampler, as opposed to signals of other senders with the same number. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The address is the value (sigev_value) of each timer of the sampler. */
extern const char own_signal_timer_token;

/* True for an expired timer of the sampler. Async-signal-safe. */
bool own_signal_is_timer(const siginfo_t *info);
/* True for a timer or a perf event of the sampler. Async-signal-safe. */
bool own_signal_is_ours(const siginfo_t *info);

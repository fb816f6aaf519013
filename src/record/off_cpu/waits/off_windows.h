/* SPDX-License-Identifier: MIT */
/* The end of a window: short waits of a thread become samples, and long ones up to now. */
#pragma once

#include "record/off_cpu/waits/off_waits.h"

#include <stdint.h>

/* Writes what the thread's window has, and the wait under way up to this time. */
void off_windows_flush(struct off_waits *waits, struct off_thread *thread, uint64_t until_ns);
/* The last window of the thread, or of its program. */
void off_windows_finish(struct off_waits *waits, struct off_thread *thread);

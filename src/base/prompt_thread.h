/* SPDX-License-Identifier: MIT */
/*
 * A thread that empties buffers of a fixed size, and must run soon after its wake-up, also beside
 * busy threads:
 *
 *     with the privilege (CAP_SYS_NICE, RLIMIT_NICE)    a higher priority
 *     since Linux 6.12                                  a short slice: goes before a running thread
 *                                                       with a longer slice
 *
 * The thread's share of the processors grows by the priority alone.
 */
#pragma once

/* Applies to the calling thread, as far as permitted. */
void prompt_thread_begin(void);

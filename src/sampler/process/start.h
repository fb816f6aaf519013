/* SPDX-License-Identifier: MIT */
/* The process joins the recording: in the constructor, and after fork(). */
#pragma once

/* A forked child joins as a process of its own. Not async-signal-safe. */
void process_join_after_fork(void);
/* Stops the use of SIGPROF, which the program needs for itself. Not async-signal-safe. */
void process_leave_sigprof(void);

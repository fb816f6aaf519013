/* SPDX-License-Identifier: MIT */
/*
 * CPU time of the process at exit() or exec. The teardown of the address space follows, without
 * samples, and the launcher charges the difference as teardown. A process that ends by _exit() or
 * by a signal leaves no such time.
 *
 * The scheduler's account of a thread, with its time in run queues, is read by the thread itself at
 * its end, before the kernel drops the account; without off-CPU time nothing is read.
 */
#pragma once

#include <stdbool.h>

/* Notes the time before an exec, maybe of a program for another recording; the second function
 * drops the time after a failed exec. Async-signal-safe (makes system calls). */
void exit_time_note_exec(bool is_of_other);
void exit_time_forget(void);

/* Notes the account of the calling thread. Async-signal-safe (makes system calls). */
void account_note(void);

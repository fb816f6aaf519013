/* SPDX-License-Identifier: MIT */
/*
 * Reasons of waits by the names of the stack: sched_switch has only the state S of a sleeping
 * thread; the functions of the kernel above the system call are the reason.
 *
 *     [waiting]  schedule  futex_do_wait  do_futex  __x64_sys_futex │ pthread_mutex_lock  main
 *                          └─ futex ─────────────────────────────── │ └─ lock
 */
#pragma once

#include "profile/profile.h"

/* Gives waits of unknown reason another leaf, "[waiting: poll]" … Of a resolved profile, before
 * stacks are linked. */
void kernel_waits_name(struct profile *profile);

/* SPDX-License-Identifier: MIT */
/*
 * The rusage of ended children, passed on to the launcher. Hooks: wait(), waitpid(), wait3(),
 * wait4(), waitid(), pclose().
 *
 *     child:  exit ─▶ zombie ──────────────┬─▶ gone
 *     parent:      wait4(…, usage) ────────┘   usage ─▶ own memory ─▶ launcher ─▶ child's account
 */
#pragma once

#include "sampler/base/hook.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

HOOK pid_t wait(int *status);
HOOK pid_t waitpid(pid_t pid, int *status, int options);
HOOK pid_t wait3(int *status, int options, struct rusage *usage);
HOOK pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);
HOOK int waitid(idtype_t type, id_t id, siginfo_t *info, int options);
HOOK int pclose(FILE *file);

/* CPU time of all children that this process has waited for. Not async-signal-safe. */
uint64_t rusage_of_children_ns(void);
/* The C library has waited for a child by itself; before_ns is rusage_of_children_ns() before the
 * wait. Not async-signal-safe. */
void rusage_note_waited(uint64_t before_ns);

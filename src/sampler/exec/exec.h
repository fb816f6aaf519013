/* SPDX-License-Identifier: MIT */
/*
 * Inheritance of a new program. The program may call exec between fork() or vfork() and the exec,
 * so the functions here are async-signal-safe, allocate on the stack alone, and leave the caller's
 * memory unchanged.
 *
 *     the program's environment ─▶ environ.c ─▶ with LD_PRELOAD and REC_SESSION, to be recorded
 *                                  exec_target.c  or without, for a program disturbed by them
 *
 * execveat() and fexecve() have no hook: the environment is passed on unchanged.
 */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/exec/exec_target.h"

HOOK int execve(const char *path, char *const *argv, char *const *environment);
HOOK int execv(const char *path, char *const *argv);
HOOK int execvpe(const char *file, char *const *argv, char *const *environment);
HOOK int execvp(const char *file, char *const *argv);
HOOK int execl(const char *path, const char *first, ...);
HOOK int execlp(const char *file, const char *first, ...);
HOOK int execle(const char *path, const char *first, ...);

/* Of the file found by execvp(). */
enum exec_kind exec_search_kind(const char *file);

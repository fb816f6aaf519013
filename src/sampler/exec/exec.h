/* SPDX-License-Identifier: MIT */
/*
 * What a new program inherits. The program may ask for one between fork, or vfork, and exec: everything
 * here is async-signal-safe, takes no memory but the stack, and leaves the caller's as it is.
 *
 *     the program's environment ─▶ environ.c ─▶ with LD_PRELOAD and REC_SESSION, so that it is recorded, too,
 *                                  exec_target.c  or without them, if it is of a kind that they would disturb
 *     the program's mask and disposition of the sampler's signal ─▶ the kernel, which knows others
 */
#pragma once

#include "sampler/base/hook.h"

#include <stdbool.h>

HOOK int execve(const char *path, char *const *argv, char *const *environment);
HOOK int execv(const char *path, char *const *argv);
HOOK int execveat(int directory, const char *path, char *const *argv, char *const *environment,
                  int flags);
HOOK int fexecve(int fd, char *const *argv, char *const *environment);
HOOK int execvpe(const char *file, char *const *argv, char *const *environment);
HOOK int execvp(const char *file, char *const *argv);
HOOK int execl(const char *path, const char *first, ...);
HOOK int execlp(const char *file, const char *first, ...);
HOOK int execle(const char *path, const char *first, ...);

/* exec_target_takes_variables() for the file that execvp() would find. */
bool search_takes_variables(const char *file);

/* Around a call that makes a new program: signals as the program believes them to be. */
struct inheritance {
    bool shows_ignored, blocks;
};
struct inheritance inheritance_begin(void);
void inheritance_end(struct inheritance inheritance);

/* SPDX-License-Identifier: MIT */
/*
 * What a new program inherits. The program may ask for one between fork, or vfork, and exec: everything
 * here is async-signal-safe, takes no memory but the stack, and leaves the caller's as it is.
 *
 *     the program's environment ─▶ inject.c ─▶ with LD_PRELOAD and REC_SESSION, so that it is recorded, too,
 *                                  image.c     or without them, if it is of a kind that they would disturb
 *     the program's mask and disposition of the sampler's signal ─▶ the kernel, which knows others
 */
#pragma once

#include "sampler/arch_x86_64.h"
#include "sampler/sampler.h"

/* image.c: false for a program that the variables would disturb, true also when in doubt. */
bool image_takes_variables(int directory, const char *path);

/* exec.c: the same for the file that execvp() would find. */
bool search_takes_variables(const char *file);

/* inject.c: keeps the two variables that rec has set. Not async-signal-safe. */
void inject_remember(char **environment);
/* Takes them out again, in place: what the program sees. Before the C library has looked at them. */
void inject_undo(char **environment);
/* False when children are not recorded (any more), or could not reach the sampler: then what is executed
 * now gets no variables. */
bool inject_wants_children(void);
/* The same for what this process executes itself, without a child: also when it is recorded alone. */
bool inject_wants_successor(void);
/* Bytes that inject_into() needs; 0: the environment goes as it is. */
size_t inject_bytes(char *const *environment);
/* The environment that the new program gets, in memory of that size. */
char **inject_into(void *memory, char *const *environment, bool takes_variables);

/* lend.c: `environ` says what a new program gets; false: it says so already, or cannot. */
bool environment_lend(void);
void environment_take_back(void);
/* In a forked child. */
void environment_take_back_after_fork(void);

/* Around a call that makes a new program: signals as the program believes them to be. */
struct inheritance {
    bool shows_ignored, blocks;
};
struct inheritance inheritance_begin(void);
void inheritance_end(struct inheritance inheritance);

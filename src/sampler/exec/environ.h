/* SPDX-License-Identifier: MIT */
/* The two variables in the environment of a new program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Updates the variables in `environ`, for an exec that does not pass through the sampler: of
 * system() or popen(), or a bare system call. Removes them when children are not recorded.
 * Async-signal-safe. */
void environ_refresh(void);
/* False when children are not recorded, or not any more, or could not read the sampler: new
 * programs get no variables. */
bool environ_wants_children(void);
/* The same for an exec of this process itself: true also with --no-inherit. */
bool environ_wants_successor(void);
/* Whether a program with this environment belongs to another recording. */
bool environ_is_of_other(char *const *environment);
/* Size of the memory for environ_into(); 0: pass the environment on unchanged. */
size_t environ_bytes(char *const *environment);
/* The new program's environment, in memory of environ_bytes(). */
char **environ_into(void *memory, char *const *environment, bool takes_variables);

/* SPDX-License-Identifier: MIT */
/* Progress on a terminal: a line on standard error, first after a second, updated each second,
 * erased at the end. */
#pragma once

#include <stddef.h>

/* Not nested. Uses SIGALRM. */
void progress_start(void);
void progress_end(void);

/* what: a string literal. of 0: no count. */
void progress_set(const char *what, size_t done, size_t of);

/* progress_set() as a callback of convert/convert.h. */
void progress_report(void *context, const char *what, size_t done, size_t of);

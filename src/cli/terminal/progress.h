/* SPDX-License-Identifier: MIT */
/*
 * What rec is doing, on a terminal and only when it takes longer than a second: one line on standard error
 * that is written over each second and gone in the end.
 */
#pragma once

#include <stddef.h>

/* One at a time. Uses SIGALRM. */
void progress_start(void);
void progress_end(void);

/* what: a literal. The count is shown when `of` is not 0. */
void progress_set(const char *what, size_t done, size_t of);

/* progress_set() as a callback of convert/convert.h. */
void progress_report(void *context, const char *what, size_t done, size_t of);

/* SPDX-License-Identifier: MIT */
/*
 * How errors travel: functions return 0 or a negative errno. Where a user will see the failure, the
 * function also takes a struct error (may be NULL) and writes one sentence into it: what happened, to
 * what, and what to do about it. The text is escaped when it is printed, not here.
 */
#pragma once

struct error {
    char text[512];
};

/* Writes the sentence and returns code, so that a failing path is one line. */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

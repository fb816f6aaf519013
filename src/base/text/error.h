/* SPDX-License-Identifier: MIT */
/*
 * Error convention: functions return 0 or a negative errno. If the failure is shown to the user,
 * the function also takes a struct error (may be NULL) and writes one sentence: what happened, to
 * what, what to do. The text is escaped when printed, not here.
 */
#pragma once

struct error {
    char text[512];
};

/* Writes the sentence and returns code, for failing paths in one line. */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* SPDX-License-Identifier: MIT */
/* The commands of `rec`. Each takes the words after the command and returns the exit status. */
#pragma once

/* Statuses of rec itself; all others are statuses of the recorded program. */
enum {
    STATUS_OK = 0,
    STATUS_CHANGED = 1,      /* rec diff: a regression */
    STATUS_INCOMPLETE = 124, /* --fail-on */
    STATUS_FAILED = 125,     /* wrong usage, or a failure of rec */
    STATUS_CANNOT_RUN = 126, /* the command exists, but cannot be executed */
    STATUS_NO_COMMAND = 127, /* command not found */
};

#define CAPTURE_DEFAULT "rec.data"

int cmd_record(char *const *words);
int cmd_convert(char *const *words);
int cmd_report(char *const *words);
int cmd_info(char *const *words);
int cmd_annotate(char *const *words);
int cmd_list(char *const *words);
int cmd_diff(char *const *words);
int cmd_doctor(char *const *words);
int cmd_stacks(char *const *words);
int cmd_threads(char *const *words);
int cmd_images(char *const *words);

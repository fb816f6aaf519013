/* SPDX-License-Identifier: MIT */
/* The commands of `rec`. Each takes the words behind its name and returns the exit status. */
#pragma once

/* Statuses of rec's own; every other one is the recorded program's. */
enum {
    STATUS_OK = 0,
    STATUS_INCOMPLETE = 124, /* --fail-on */
    STATUS_FAILED = 125,     /* rec could not do what it was asked to */
    STATUS_CANNOT_RUN = 126, /* the command is there, but cannot be executed */
    STATUS_NO_COMMAND = 127, /* there is no such command */
};

#define CAPTURE_DEFAULT "rec.data"

int cmd_record(char *const *words);
int cmd_convert(char *const *words);
int cmd_report(char *const *words);
int cmd_info(char *const *words);
int cmd_list(char *const *words);
int cmd_doctor(char *const *words);

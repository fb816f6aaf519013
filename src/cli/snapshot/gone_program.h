/* SPDX-License-Identifier: MIT */
/* The program file of a running process that was deleted or replaced, held open for its names. */
#pragma once

#include "convert/options.h"

#include <sys/types.h>

struct gone_program {
    int fd;          /* -1: the program is at its path, or not readable */
    char path[4096]; /* at the start of the program */
    char path_now[64];
};

void gone_program_open(struct gone_program *program, pid_t pid);
/* Sets the options that lead the conversion to the file. */
void gone_program_use(const struct gone_program *program, struct convert_options *options);
void gone_program_close(struct gone_program *program);

/* SPDX-License-Identifier: MIT */
#include "cli/commands/program_hint.h"

#include "base/files/foreign_file.h"
#include "cli/commands/commands.h"
#include "perfdata/header.h"
#include "record/launch/launch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Unreadable files, directories and devices count as captures: their errors are more precise. */
static bool may_be_capture(const char *input)
{
    char bytes[FILE_MAGIC_BYTES];
    int fd = foreign_file_open(input, NULL, NULL);
    if (fd < 0)
        return fd != -ENOENT;
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    close(fd);
    return size < 0 || file_magic_check(bytes, (size_t)size, input, NULL) == 0;
}

/* The program meant instead of a subcommand with this input; NULL: none. */
static const char *find_program(const char *subcommand, const char *input)
{
    char path[4096];
    if (!input || strcmp(input, CAPTURE_DEFAULT) == 0 || may_be_capture(input))
        return NULL;
    if (launch_find(subcommand, path, NULL) == 0)
        return subcommand;
    return launch_find(input, path, NULL) == 0 ? input : NULL;
}

int program_hint_check(const char *subcommand, const char *input, struct error *error)
{
    const char *program = find_program(subcommand, input);
    if (!program)
        return 0;
    return error_set(error, -EINVAL, "%s %s; to record the program %s: `rec -- %s%s`", input,
                     access(input, F_OK) == 0 ? "is no recording" : "does not exist", program,
                     program, program == subcommand ? " …" : "");
}

void program_hint_append(const char *subcommand, const char *input, struct error *error)
{
    const char *program = find_program(subcommand, input);
    size_t length = strlen(error->text);
    if (program)
        snprintf(error->text + length, sizeof(error->text) - length,
                 "; to record the program %s: `rec -- %s%s`", program, program,
                 program == subcommand ? " …" : "");
}

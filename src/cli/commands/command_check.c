/* SPDX-License-Identifier: MIT */
#include "cli/commands/command_check.h"

#include "cli/commands/commands.h"
#include "cli/tables/command_table.h"
#include "cli/options/options.h"
#include "record/launch/launch.h"

#include <string.h>
#include <unistd.h>

int command_check(const char *command, struct error *error)
{
    char path[4096];
    int status = launch_find(command, path, error);
    if (status != STATUS_NO_COMMAND || strchr(command, '/'))
        return status;
    const char *nearest = command_nearest(command);
    if (nearest)
        error_set(error, 0, "%s: command not found; did you mean `rec %s`?", command, nearest);
    else if (command[0] && access(command, F_OK) == 0)
        error_set(error, 0, "%s: command not found; did you mean ./%s?", command, command);
    return status;
}

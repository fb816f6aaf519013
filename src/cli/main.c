/* SPDX-License-Identifier: MIT */
#include "base/files/io.h"
#include "base/heap.h"
#include "base/text/log.h"
#include "cli/commands/commands.h"
#include "cli/commands/view_exec.h"
#include "cli/files/sudo_reader.h"
#include "cli/tables/command_table.h"
#include "cli/options/help.h"
#include "cli/options/options.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(char *const *words);
} commands[] = {
    {"record", cmd_record},     {"convert", cmd_convert}, {"report", cmd_report},
    {"info", cmd_info},         {"list", cmd_list},       {"doctor", cmd_doctor},
    {"annotate", cmd_annotate}, {"diff", cmd_diff},       {"view", view_exec},
    {"stacks", cmd_stacks},     {"threads", cmd_threads}, {"images", cmd_images},
};

/* Detects lost output: `rec info >/dev/full` is a failure. */
static int finish(int status)
{
    if (status == STATUS_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        log_error("cannot write to standard output");
        return STATUS_FAILED;
    }
    return status;
}

static int run_help(char *const *words)
{
    if (!words[0]) {
        help_print(stdout);
        return STATUS_OK;
    }
    const struct command_spec *command = command_find(words[0]);
    if (command == &help_command) {
        help_print(stdout);
        return STATUS_OK;
    }
    if (command) {
        help_print_command(stdout, command);
        return STATUS_OK;
    }
    const char *nearest = command_nearest(words[0]);
    log_error("unknown command '%s'%s%s%s", words[0], nearest ? ": did you mean " : "",
              nearest ? nearest : "; see `rec --help`", nearest ? "?" : "");
    return STATUS_FAILED;
}

static int dispatch(char *const *words)
{
    if (!words[0]) {
        help_print(stderr);
        return STATUS_FAILED;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0) {
        help_print(stdout);
        return STATUS_OK;
    }
    if (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0) {
        help_print_version(stdout);
        return STATUS_OK;
    }
    if (strcmp(words[0], "help") == 0)
        return run_help(words + 1);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(words[0], commands[i].name) != 0)
            continue;
        return commands[i].run(words + 1);
    }
    return cmd_record(words);
}

int main(int argc, char **argv)
{
    io_take_closed_standard_places();
    heap_prefer_large_pages();
    sudo_reader_set();
    return finish(dispatch(argv + (argc > 0)));
}

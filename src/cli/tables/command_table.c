/* SPDX-License-Identifier: MIT */
#include "cli/tables/command_table.h"

#include "cli/tables/annotate_table.h"
#include "cli/tables/convert_table.h"
#include "cli/tables/diff_table.h"
#include "cli/tables/record_table.h"
#include "cli/tables/serve_table.h"
#include "cli/tables/snapshot_table.h"
#include "cli/tables/view_table.h"

#include <string.h>

static const struct option_spec list_options[] = {
    OPTION_HEADING("Options"),
    OPTION_SWITCH(LIST_JSON, 0, "json", "Print the details of all or the named recorders as JSON."),
    OPTION_HELP_ROW,
    {0},
};

const struct command_spec list_command = {
    .name = "list",
    .synopsis = "list [--json] [RECORDER...]",
    .summary = "recorders and their parameters",
    .description =
        "Lists the recorders: unit of the samples' weight, availability for this machine and user, "
        "description. With names: details of the named recorders, with sources and parameters "
        "(options of rec record). Starts nothing and writes no file.\n\n"
        "A program called list is recorded by `rec -- list`.",
    .operand = "RECORDER",
    .options = list_options,
};

static const struct option_spec doctor_options[] = {
    OPTION_HEADING("Options"),
    OPTION_TAKING('p', 'p', "pid", "PID[,...]",
                  "Test these running processes: engines, snapshots, and the rule against each."),
    OPTION_HELP_ROW,
    {0},
};

const struct command_spec doctor_command = {
    .name = "doctor",
    .synopsis = "doctor [-p PID[,...]]",
    .summary = "capabilities of rec on this machine",
    .description =
        "Tests the engines, the kernel's rules for access to processes and the sandbox for this "
        "machine and user, and names the setting with the largest effect. Records nothing and "
        "changes nothing.",
    .options = doctor_options,
};

static const struct option_spec no_options[] = {{0}};

const struct command_spec help_command = {
    .name = "help",
    .synopsis = "help [COMMAND]",
    .summary = "all options of a command",
    .description = "Prints the options of a command, or an overview of all commands.",
    .operand = "SUBCOMMAND",
    .options = no_options,
};

const struct command_spec *const command_table[] = {
    &record_command, &report_command,
    &view_command,   &annotate_command,
    &diff_command,   &convert_command,
    &info_command,   &list_command,
    &stacks_command, &threads_command,
    &images_command, &doctor_command,
    &help_command,   NULL,
};

const char command_overview[] =
    "rec shows where a native program spends CPU time. Recording leaves rec.data (for rec and "
    "perf), "
    "rec.json.gz (Firefox Profiler), rec.pb.gz (pprof) and rec.folded (flamegraph.pl).";

const struct command_example command_examples[] = {
    {"rec -- ./app --its-arguments", "record; then `rec report`"},
    {"rec -F 4000 -o run1/ -- make -j4", "4000 samples per CPU second, the files in run1/"},
    {"rec convert perf.data -o p.html", "a recording of perf as a web page"},
    {NULL, NULL},
};

const struct command_spec *command_find(const char *name)
{
    for (size_t i = 0; command_table[i]; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

const char *command_nearest(const char *name)
{
    const char *names[sizeof(command_table) / sizeof(command_table[0])] = {NULL};
    for (size_t i = 0; command_table[i]; i++)
        names[i] = command_table[i]->name;
    return options_nearest(name, names);
}

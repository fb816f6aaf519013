/* SPDX-License-Identifier: MIT */
#include "cli/tables/annotate_table.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"

static const struct option_spec options[] = {
    OPTION_HEADING("Input and output"),
    OPTION_TAKING('i', 'i', "input", "FILE", "Read this file; the same as a second operand."),
    OPTION_SWITCH(ANNOTATE_ASM, 0, "asm", "Print the instructions, with the source between them."),
    OPTION_SWITCH(ANNOTATE_ATT, 0, "att", "The same in AT&T syntax."),
    OPTION_SWITCH(ANNOTATE_JSON, 0, "json", "Print the same as JSON."),
    SOURCE_DIR_OPTION_SPEC,
    OPTION_HELP_ROW,
    SYMBOL_OPTION_SPECS,
    FILTER_OPTION_SPECS,
    {0},
};

const struct command_spec annotate_command = {
    .name = "annotate",
    .synopsis = "annotate FUNCTION [FILE...]",
    .summary = "source lines and instructions by CPU time",
    .description =
        "Prints the source lines of a function of one or more captures (default rec.data) with "
        "self and total "
        "time; with --asm its instructions. FUNCTION is a name, a name without parameters, or a "
        "part of the name of a single function. A line counts once for each stack. The numbers are "
        "those of the Firefox Profiler's source and assembly views.\n\n"
        "Machine code is read from the recorded files, by build-id, and from jitdumps; sources "
        "from their recorded paths, from --source-dir, and with --debuginfod from servers.",
    .operand = "FUNCTION",
    .options = options,
};

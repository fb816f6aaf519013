/* SPDX-License-Identifier: MIT */
#include "cli/tables/diff_table.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"

static const struct option_spec options[] = {
    OPTION_HEADING("Input and output"),
    OPTION_TAKING(
        'o', 'o', "output", "OUTPUT",
        "Write the difference, for each run, to this file; repeatable. The suffix selects "
        "the format: .html .svg .folded .pb.gz .json.gz."),
    OPTION_SWITCH(DIFF_JSON, 0, "json", "Print all functions as JSON."),
    OPTION_SWITCH(DIFF_SHORT_NAMES, 0, "short-names",
                  "Leave template arguments and parameters out of names, also for matching."),
    OPTION_HELP_ROW,
    OPTION_HEADING("Comparison"),
    OPTION_TAKING(DIFF_BY, 0, "by", "time|share",
                  "Compare CPU time for each run (default), or shares of the run's total: for runs "
                  "of different length or on different machines."),
    OPTION_SWITCH(DIFF_TOTAL, 0, "total",
                  "Compare the time of functions with their callees instead of self time."),
    OPTION_SWITCH(DIFF_LINES, 0, "lines", "Compare source lines instead of functions."),
    OPTION_TAKING(DIFF_THRESHOLD, 0, "threshold", "PERCENT",
                  "Smallest change to report, in per cent of the base's total (default 1)."),
    OPTION_TAKING(
        DIFF_NOISE, 0, "noise", "PERCENT",
        "For one run on each side: assumed variation of a function's time from run to run "
        "(standard deviation), to have verdicts all the same."),
    OPTION_TAKING(DIFF_FAIL_ON, 0, "fail-on", "regression|change|never",
                  "Exit with 1 for growth (default), for growth or decrease, or never."),
    SYMBOL_OPTION_SPECS,
    FILTER_OPTION_SPECS,
    {0},
};

const struct command_spec diff_command = {
    .name = "diff",
    .synopsis = "diff BASE NEW | BASE... -- NEW...",
    .summary = "what changed between two captures, or two series",
    .description =
        "Compares captures before and after a change, function by function: CPU time for each run, "
        "difference, 95 % interval, verdict. A directory stands for its captures (rec --repeat). A "
        "change is reported if it exceeds the threshold and the variation among the runs of one "
        "side: record each side five times. One run on each side has no measure of the variation: "
        "differences are shown with the sampling error alone, and nothing fails without --noise. "
        "Functions match by module and name across builds.\n\n"
        "The last line is for logs: the largest growth, and the function.",
    .operand = "FILE",
    .options = options,
    .exit_status = "0: no regression. 1: a regression, see --fail-on. 125: wrong usage, or no "
                   "comparison is possible.",
};

/* SPDX-License-Identifier: MIT */
#include "cli/tables/view_table.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"

#define FIXED_VIEW \
    "rec report has a fixed view; use `perf report`, or `rec convert` for other viewers"

/* Options of perf report: without effect here, or refused. */
#define PERF_REPORT_OPTIONS                                         \
    OPTION_HEADING(NULL), OPTION_IGNORED(0, "stdio", OPTION_ALONE), \
        OPTION_IGNORED(0, "children", OPTION_ALONE),                \
        OPTION_IGNORED(0, "no-children", OPTION_ALONE),             \
        OPTION_UNSUPPORTED('g', "call-graph", FIXED_VIEW),          \
        OPTION_UNSUPPORTED('G', "inverted", FIXED_VIEW),            \
        OPTION_UNSUPPORTED('s', "sort", FIXED_VIEW),                \
        OPTION_UNSUPPORTED('F', "fields", FIXED_VIEW),              \
        OPTION_UNSUPPORTED('n', "show-nr-samples", FIXED_VIEW),     \
        OPTION_UNSUPPORTED('d', "dsos", FIXED_VIEW),                \
        OPTION_UNSUPPORTED('S', "symbols", FIXED_VIEW), OPTION_UNSUPPORTED(0, "tui", FIXED_VIEW)

static const struct option_spec report_options[] = {
    OPTION_HEADING("Input and output"),
    OPTION_TAKING('i', 'i', "input", "FILE", "Read this file; the same as an operand."),
    OPTION_SWITCH(VIEW_JSON, 0, "json", "Print all functions and the call tree as JSON."),
    OPTION_SWITCH(VIEW_MARKDOWN, 0, "markdown", "Print a Markdown table, and the calls as text."),
    OPTION_SWITCH(VIEW_LIFECYCLE, 0, "lifecycle",
                  "Print the threads of a recording with --record thread-lifecycle instead: never "
                  "joined, alive at the end, and by which calls they were created."),
    OPTION_SWITCH(
        VIEW_OFF_CPU, 0, "off-cpu",
        "Print the waits of a recording with --off-cpu instead: by reason, then by stack."),
    OPTION_SWITCH(VIEW_STUCK, 0, "stuck",
                  "Print threads with long waits instead: age, reason, stack."),
    OPTION_TAKING(VIEW_STUCK_AFTER, 0, "stuck-after", "TIME",
                  "Shortest wait for --stuck, such as 500ms or 10s (default 5s)."),
    OPTION_SWITCH(VIEW_IDLE, 0, "idle",
                  "With --off-cpu and --stuck: also threads that wait at one place only, two or "
                  "more together."),
    OPTION_SWITCH(VIEW_SHORT_NAMES, 0, "short-names",
                  "Leave template arguments and parameters out of names."),
    OPTION_HELP_ROW,
    OPTION_HEADING("Contents"),
    OPTION_TAKING(VIEW_BY, 0, "by", "KIND", "Print times by thread, process or module."),
    OPTION_SWITCH(VIEW_LINES, 0, "lines", "Print times by source line instead of by function."),
    OPTION_TAKING(VIEW_CALLERS, 0, "callers", "NAME",
                  "Print the tree of callers of a function, from the function upwards."),
    OPTION_TAKING(VIEW_CALLEES, 0, "callees", "NAME", "Print the tree of calls below a function."),
    OPTION_TAKING(VIEW_PERCENT_LIMIT, 0, "percent-limit", "PERCENT",
                  "Print everything with at least PERCENT of the time, instead of 20 rows and 45 "
                  "lines of calls."),
    SYMBOL_OPTION_SPECS,
    FILTER_OPTION_SPECS,
    PERF_REPORT_OPTIONS,
    {0},
};

const struct command_spec report_command = {
    .name = "report",
    .synopsis = "report [FILE...]",
    .summary = "functions and calls by CPU time",
    .description =
        "Prints a capture (default rec.data), or the sum of several: the 20 functions with the "
        "most self time, then the "
        "tree of calls with at least 2 % of the time, or 3 to 20 % where 2 % are more than 45 "
        "lines. "
        "A recursive function counts once for each stack.",
    .operand = "FILE",
    .options = report_options,
};

static const struct option_spec info_options[] = {
    OPTION_HEADING("Input and output"),
    OPTION_TAKING('i', 'i', "input", "FILE", "Read this file; the same as an operand."),
    OPTION_SWITCH(VIEW_JSON, 0, "json", "Print the same as JSON."),
    MEMORY_OPTION_SPEC,
    OPTION_HELP_ROW,
    FILTER_OPTION_SPECS,
    PERF_REPORT_OPTIONS,
    OPTION_SWITCH(VIEW_SHORT_NAMES, 0, "short-names", NULL), /* as for rec report; no effect */
    SYMBOL_OPTION_SPECS,
    {0},
};

const struct command_spec info_command = {
    .name = "info",
    .synopsis = "info [FILE]",
    .summary = "machine, processes, threads, modules",
    .description =
        "Prints a capture (default rec.data) without stacks: machine, program, counters and losses "
        "of the recording, processes, threads, modules with build-ids.",
    .operand = "FILE",
    .options = info_options,
};

/* SPDX-License-Identifier: MIT */
#include "cli/tables/convert_table.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"

static const struct option_spec options[] = {
    OPTION_HEADING("Input and output"),
    OPTION_TAKING(
        'o', 'o', "output", "OUTPUT",
        "Write this file; repeatable. The suffix selects the format: {suffixes}. DIR/: the "
        "usual three files there. -: standard output, uncompressed, with --format."),
    OPTION_TAKING(CONVERT_FORMAT, 0, "format", "FORMAT",
                  "Format of standard output, with -o - only: {formats}."),
    OPTION_TAKING('i', 'i', "input", "FILE", "Read this file; the same as an operand."),
    OPTION_SWITCH('q', 'q', "quiet", "Print errors only."),
    OPTION_SWITCH('v', 'v', "verbose", "List the embedded source files."),
    OPTION_HELP_ROW,
    OPTION_HEADING("Contents"),
    OPTION_SWITCH(CONVERT_EMBED_SOURCE, 0, "embed-source",
                  "Put the text of sampled source files into the Firefox file."),
    OPTION_SWITCH(CONVERT_THREADS, 0, "threads",
                  "Begin collapsed stacks with their process and thread."),
    OPTION_SWITCH(CONVERT_SHORT_NAMES, 0, "short-names",
                  "Leave template arguments and parameters out of collapsed stacks."),
    OPTION_SWITCH(CONVERT_ANNOTATE, 0, "annotate",
                  "Mark names in collapsed stacks: _[k] kernel, _[j] JIT, _[i] inlined."),
    OPTION_SWITCH(CONVERT_ADDRS, 0, "addrs",
                  "Print addresses of code without a name in collapsed stacks."),
    SYMBOL_OPTION_SPECS,
    FILTER_OPTION_SPECS,
    {0},
};

const struct command_spec convert_command = {
    .name = "convert",
    .synopsis = "convert [FILE...] -o OUTPUT [-o OUTPUT...]",
    .summary = "other formats of a capture of rec or perf",
    .description =
        "Writes a capture (default rec.data) in other formats. FILE may also be a recording of "
        "perf: a file, a directory (perf record --threads), or - for a pipe (perf record -o - "
        "app). Several files are added up; on time lines each keeps its own wall-clock time. Names "
        "come from the capture, or from binaries and debug files on this machine.",
    .operand = "FILE",
    .options = options,
};

/* SPDX-License-Identifier: MIT */
#include "cli/tables/serve_table.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"

static const struct option_spec options[] = {
    OPTION_HEADING("Viewer"),
    OPTION_TAKING(SERVE_PROFILER, 0, "profiler", "URL|DIR",
                  "Another Firefox Profiler, or the folder of a built copy: no request leaves the "
                  "machine."),
    OPTION_MAYBE_TAKING(SERVE_SPEEDSCOPE, 0, "speedscope", "DIR",
                        "speedscope as installed by npm, or from DIR (its dist/release)."),
    OPTION_SWITCH(SERVE_PPROF, 0, "pprof", "The flame graph of pprof, or of go tool pprof."),
    OPTION_SWITCH(SERVE_HTML, 0, "html", "The web page, as in .html files."),
    OPTION_SWITCH(SERVE_NO_OPEN, 0, "no-open",
                  "Print the address and an ssh command instead of opening the browser."),
    OPTION_HEADING("Server"),
    OPTION_TAKING(SERVE_PORT, 0, "port", "N",
                  "Port of the server (default: the first free one of 3000 to 3099)."),
    OPTION_TAKING(SERVE_ADDRESS, 0, "address", "ADDRESS",
                  "Address of the server (default 127.0.0.1). Others are reachable from other "
                  "machines, without encryption."),
    OPTION_HEADING("Input"),
    OPTION_TAKING('i', 'i', "input", "FILE", "Read this file; the same as the operand."),
    OPTION_TAKING(SERVE_SOURCE_DIR, 0, "source-dir", "OLD=NEW",
                  "Read sources below NEW in place of a leading OLD of their recorded paths; "
                  "repeatable."),
    OPTION_SWITCH(SERVE_ATT, 0, "att", "Show x86 instructions in AT&T syntax."),
    OPTION_HELP_ROW,
    SYMBOL_OPTION_SPECS,
    FILTER_OPTION_SPECS,
    {0},
};

const struct command_spec view_command = {
    .name = "view",
    .synopsis = "view [FILE...]",
    .summary = "a capture in the browser, with source and assembly",
    .description =
        "Serves one or more captures (default rec.data) to viewers on this machine until Ctrl-C, "
        "and "
        "opens the browser on the Firefox Profiler. A page with all viewers and files is below the "
        "printed address, which holds a secret token. Without a display, or with --no-open: prints "
        "the address and an ssh command for another machine's browser.\n\n"
        "Source and assembly views read the recorded files, by build-id.",
    .operand = "FILE",
    .options = options,
};

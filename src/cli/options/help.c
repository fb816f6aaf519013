/* SPDX-License-Identifier: MIT */
#include "cli/options/help.h"

#include "cli/options/filter_options.h"
#include "elf/decompress.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>

const char *const help_commands[] = {"record", "convert", "report", "info",
                                     "list",   "doctor",  "help",   NULL};

static const char overview[] =
    "rec shows where a native program spends its CPU time.\n"
    "\n"
    "  rec [record] [OPTION...] [--] COMMAND [ARGUMENT...]    run and record a command\n"
    "  rec report [FILE]                 the functions and calls that used the time\n"
    "  rec convert [FILE] -o NAME...     a capture, or perf's, in other formats\n"
    "  rec info [FILE]                   everything known about a capture\n"
    "  rec list [RECORDER...]            what rec can record, with its parameters\n"
    "  rec doctor                        what this machine lets rec do\n"
    "  rec help COMMAND                  all options of a command\n"
    "\n"
    "Examples:\n"
    "  rec -- ./app --its-arguments      record; then `rec report`\n"
    "  rec -F 4000 -o run1/ -- make -j4  4000 samples per CPU second, the files in run1/\n"
    "  rec convert perf.data -o app.json.gz\n"
    "                                    what perf recorded, for https://profiler.firefox.com\n"
    "\n"
    "Recording leaves rec.data (for rec report and perf report), rec.json.gz (Firefox Profiler),\n"
    "rec.pb.gz (pprof) and rec.folded (speedscope, flamegraph.pl).\n"
    "\n"
    "Options of record:\n"
    "  -o, --output NAME     write NAME, its suffix says what; may repeat; DIR/: the usual files\n"
    "  -F, --freq N          samples per second of CPU time (default 999, up to 20000)\n"
    "  -q, --quiet           say nothing unless something failed\n"
    "  -v, --verbose         say more about the recording itself\n"
    "  --engine=NAME         perf-trap or timer, instead of the best that can be had\n"
    "  --no-cmdline          leave the command line out of the files\n"
    "  --help, --version\n"
    "\n"
    "Exit status: the command's own; 125 when rec failed, 126 cannot run it, 127 no such "
    "command.\n";

static const char record_help[] =
    "rec [record] [OPTION...] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs the command, samples its CPU time, writes rec.data, rec.pb.gz, rec.json.gz, rec.folded.\n"
    "After -- the first word is always a command. An existing rec.data is kept as rec.data.old.\n"
    "\n"
    "  -o, --output NAME     may repeat. The suffix says what to write: .data the capture,\n"
    "                        .pb.gz .pb .pprof pprof, .json.gz .json Firefox Profiler,\n"
    "                        .speedscope.json speedscope, .perf.txt text of `perf script`,\n"
    "                        .folded .collapsed .txt stacks;\n"
    "                        any other name is the capture; DIR/ the usual four files there\n"
    "  -F, --freq N          samples per second of CPU time, 1 to 20000 or max (default 999)\n"
    "  -c, --count NS        one sample every NS nanoseconds of CPU time, instead of -F\n"
    "  -e, --event NAME      cpu-clock or task-clock, with or without :u; nothing else yet\n"
    "  -g, --call-graph HOW  accepted: stacks are always recorded\n"
    "  --engine=NAME         perf-trap (perf events) or timer (POSIX timers); fails when that\n"
    "                        one cannot be had. Without: the first of them that can\n"
    "  --no-cmdline          leave the command line out of the files\n"
    "  --embed-source        put the text of sampled source files into rec.json.gz\n"
    "  -D, --delay MS        begin sampling so many milliseconds after the start\n"
    "  --duration TIME       sample for 5, 1.5s, 200ms, 2m, …; then write the files, while the\n"
    "                        command goes on. rec still ends as the command does\n"
    "  --max-size SIZE       the same when the capture has 500K, 64M, 2G, …\n"
    "  --fail-on=incomplete[:PERCENT]  exit with 124 when no complete stack stands for more than\n"
    "                        PERCENT (default 5) of the CPU time, and the command ended with 0\n"
    "  --keep-free SIZE      the same when less of the capture's disk is free (default 256M, at "
    "most\n"
    "                        a quarter of what is free at the start)\n"
    "  --max-mappings N      mappings of a process that are recorded (default 8192)\n"
    "  --memory-limit SIZE   memory of converting the capture (default 480M, more for large ones)\n"
    "  --end-command         send the command SIGTERM when the recording ends before it does\n"
    "  --wait-all            record until the last process of the tree has ended, not only the\n"
    "                        command\n"
    "  -i, --no-inherit      record the command's process alone, not its children\n"
    "  -z, --compression-level[=N]  compress the records of the capture with zstd\n"
    "  --threads             begin stacks in rec.folded with their process and thread\n"
    "  --short-names         no template arguments and parameters in rec.folded\n"
    "  --show-env, --hide-env  accepted without effect\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --debuginfod          fetch debug info that is missing from DEBUGINFOD_URLS\n"
    "  --no-inline           names of symbol tables alone: neither inlined functions nor lines\n"
    "  --self-check[=N]      unwind every Nth stack (default 100) a second time and compare\n"
    "  -q, --quiet           say nothing unless something failed\n"
    "  -v, --verbose         say more about the recording itself\n"
    "\n"
    "Exit status: the command's own, also its death signal, when that is not 0. 124: --fail-on.\n"
    "125: wrong usage, rec cannot record here, or a file could not be written. 126: the command\n"
    "cannot be run. 127: there is none.\n";

static const char convert_help[] =
    "rec convert [FILE] -o NAME [-o NAME...]\n"
    "\n"
    "Writes a capture (default rec.data) in other formats. FILE may also be what `perf record`\n"
    "wrote: a file, a directory (--threads), or - for a pipe (`perf record -o - app | rec convert "
    "-`).\n"
    "Binaries and their debug files are looked up on this machine, unless the capture "
    "holds\n"
    "the names already.\n"
    "\n"
    "  -o, --output NAME     the suffix says what to write: .pb.gz .pb .pprof pprof,\n"
    "                        .json.gz .json Firefox Profiler, .speedscope.json speedscope,\n"
    "                        .perf.txt text of `perf script`, .folded .collapsed .txt stacks;\n"
    "                        DIR/ all usual ones there; - standard output, uncompressed,\n"
    "                        with --format\n"
    "  --format NAME         pprof, firefox, collapsed, speedscope or perf-text; for -o - only\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --embed-source        put the text of sampled source files into Firefox's file\n"
    "  --threads             begin collapsed stacks with their process and thread\n"
    "  --short-names         no template arguments and parameters in collapsed stacks\n"
    "  --annotate            mark names in collapsed stacks: _[k] kernel, _[j] JIT, _[i] inlined\n"
    "  --addrs               code without a name in collapsed stacks by its address\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --symfs DIR           the recorded files lie below DIR: those of another machine\n"
    "  --debuginfod          fetch debug info that is missing from DEBUGINFOD_URLS\n"
    "  --no-inline           names of symbol tables alone: neither inlined functions nor "
    "lines\n"
    "  --memory-limit SIZE   memory to use at most (default 480M, more for large "
    "captures)\n" FILTER_OPTION_HELP "  -q, --quiet           say nothing unless something failed\n"
    "  -v, --verbose         list the embedded source files\n";

static const char report_help[] =
    "rec report [FILE]\n"
    "\n"
    "Shows a capture (default rec.data): the 20 functions with most CPU time of their own, then "
    "the\n"
    "calls that lead to at least 2 % of it. A recursive function counts once a stack.\n"
    "\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --json                all functions and the call tree, for scripts\n"
    "  --short-names         names without template arguments and parameters\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --symfs DIR           the recorded files lie below DIR: those of another machine\n"
    "  --debuginfod          fetch debug info that is missing from DEBUGINFOD_URLS\n"
    "  --no-inline           names of symbol tables alone: neither inlined functions nor "
    "lines\n"
    "  --memory-limit SIZE   memory to use at most (default 480M, more for large "
    "captures)\n" FILTER_OPTION_HELP;

static const char info_help[] =
    "rec info [FILE]\n"
    "\n"
    "Shows everything known about a capture (default rec.data) but its stacks: machine, program,\n"
    "how it was recorded and what is missing, processes, threads, modules with build-ids.\n"
    "\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --json                the same, for scripts\n"
    "  --memory-limit SIZE   memory to use at most (default 480M, more for large "
    "captures)\n" FILTER_OPTION_HELP;

static const char list_help[] =
    "rec list [--json] [RECORDER...]\n"
    "\n"
    "Lists the recorders: unit of the samples' weight, availability for this machine and user,\n"
    "description. With names: details of the named recorders, with sources and parameters\n"
    "(options of rec record). Starts nothing and writes no file.\n"
    "\n"
    "  --json                the details of all or the named recorders, for scripts\n"
    "\n"
    "A program called list is recorded by `rec -- list`.\n";

static const char doctor_help[] =
    "rec doctor\n"
    "\n"
    "Tries what this machine and user let rec do, and names the one setting that would help most.\n"
    "Records nothing and changes nothing.\n";

void help_print(FILE *stream)
{
    fputs(overview, stream);
}

int help_print_command(FILE *stream, const char *command)
{
    static const struct {
        const char *command, *text;
    } texts[] = {
        {"record", record_help}, {"convert", convert_help}, {"report", report_help},
        {"info", info_help},     {"list", list_help},       {"doctor", doctor_help},
        {"help", overview},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].command, command) == 0) {
            fputs(texts[i].text, stream);
            return 0;
        }
    }
    return -ENOENT;
}

void help_print_version(FILE *stream)
{
    fprintf(stream,
            "rec %s, MIT licence\n"
            "built with elfutils %s and zlib %s; %s%s\n",
            REC_VERSION, REC_ELFUTILS_VERSION, ZLIB_VERSION,
            decompress_missing()[0] ? "missing: " : "nothing optional is missing",
            decompress_missing());
}

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
    "rec shows where a native program spends CPU time.\n"
    "\n"
    "  rec [record] [OPTION...] [--] COMMAND [ARGUMENT...]    run and record a command\n"
    "  rec report [FILE]                 functions and calls by CPU time\n"
    "  rec convert [FILE] -o NAME...     other formats of a capture of rec or perf\n"
    "  rec info [FILE]                   machine, processes, threads, modules\n"
    "  rec list [RECORDER...]            recorders and their parameters\n"
    "  rec doctor                        capabilities of rec on this machine\n"
    "  rec help COMMAND                  all options of a command\n"
    "\n"
    "Examples:\n"
    "  rec -- ./app --its-arguments      record; then `rec report`\n"
    "  rec -F 4000 -o run1/ -- make -j4  4000 samples per CPU second, the files in run1/\n"
    "  rec convert perf.data -o app.json.gz\n"
    "                                    a recording of perf for https://profiler.firefox.com\n"
    "\n"
    "Recording leaves rec.data (for rec report and perf report), rec.json.gz (Firefox Profiler),\n"
    "rec.pb.gz (pprof) and rec.folded (speedscope, flamegraph.pl).\n"
    "\n"
    "Options of record:\n"
    "  -o, --output NAME     write NAME in the format of the suffix; DIR/: the usual files;\n"
    "                        repeatable\n"
    "  -F, --freq N          samples per second of CPU time (default 999, up to 20000)\n"
    "  -q, --quiet           print errors only\n"
    "  -v, --verbose         print costs of the recording, too\n"
    "  --engine=NAME         perf-trap or timer (default: the first available)\n"
    "  --no-cmdline          leave the command line out of the files\n"
    "  --help, --version\n"
    "\n"
    "Exit status: the status of the command; 125: rec failed; 126: the command cannot be run;\n"
    "127: command not found.\n";

static const char record_help[] =
    "rec [record] [OPTION...] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs the command, samples CPU time, writes rec.data, rec.pb.gz, rec.json.gz, rec.folded.\n"
    "The first word after -- is always a command. An existing rec.data becomes rec.data.old.\n"
    "\n"
    "  -o, --output NAME     repeatable; the suffix selects the format: .data the capture,\n"
    "                        .pb.gz .pb .pprof pprof, .json.gz .json Firefox Profiler,\n"
    "                        .speedscope.json speedscope, .perf.txt text of `perf script`,\n"
    "                        .folded .collapsed .txt stacks;\n"
    "                        any other name is the capture; DIR/ the usual four files there\n"
    "  -F, --freq N          samples per second of CPU time, 1 to 20000 or max (default 999)\n"
    "  -c, --count NS        a sample every NS nanoseconds of CPU time, instead of -F\n"
    "  -e, --event NAME      cpu-clock or task-clock, with or without :u; nothing else yet\n"
    "  -g, --call-graph HOW  accepted: stacks are always recorded\n"
    "  --engine=NAME         perf-trap (perf events) or timer (POSIX timers); an unavailable\n"
    "                        engine is an error (default: the first available)\n"
    "  --no-cmdline          leave the command line out of the files\n"
    "  --embed-source        put the text of sampled source files into rec.json.gz\n"
    "  -D, --delay MS        begin sampling MS milliseconds after the start\n"
    "  --duration TIME       stop sampling after 5, 1.5s, 200ms, 2m, … and write the files; the\n"
    "                        command goes on, and rec ends with the command\n"
    "  --max-size SIZE       the same as soon as the capture has 500K, 64M, 2G, …\n"
    "  --keep-free SIZE      the same as soon as less space is free on the disk of the capture\n"
    "                        (default 256M, at most a quarter of the free space at the start)\n"
    "  --fail-on=incomplete[:PERCENT]  exit with 124 if more than PERCENT (default 5) of the CPU\n"
    "                        time has no complete stack and the command exited with 0\n"
    "  --max-mappings N      mappings to record for each process (default 8192)\n"
    "  --memory-limit SIZE   memory for converting the capture (default 480M, more for a large\n"
    "                        capture)\n"
    "  --end-command         send SIGTERM to the command when the recording ends first\n"
    "  --wait-all            record until the last process of the tree ends\n"
    "  -i, --no-inherit      record the process of the command without children\n"
    "  -z, --compression-level[=N]  compress the records of the capture with zstd\n"
    "  --threads             begin stacks in rec.folded with their process and thread\n"
    "  --short-names         no template arguments and parameters in rec.folded\n"
    "  --show-env, --hide-env  accepted without effect\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --debuginfod          fetch missing debug info from the servers of DEBUGINFOD_URLS\n"
    "  --no-inline           names from symbol tables only: neither inlined functions nor lines\n"
    "  --self-check[=N]      unwind every Nth stack (default 100) a second time and compare\n"
    "  -q, --quiet           print errors only\n"
    "  -v, --verbose         print costs of the recording, too\n"
    "\n"
    "Exit status: the status or the death signal of the command, if not 0. 124: --fail-on.\n"
    "125: wrong usage, recording is impossible here, or a file could not be written. 126: the\n"
    "command cannot be run. 127: command not found.\n";

static const char convert_help[] =
    "rec convert [FILE] -o NAME [-o NAME...]\n"
    "\n"
    "Writes a capture (default rec.data) in other formats. FILE may also be a recording of perf:\n"
    "a file, a directory (perf record --threads), or - for a pipe (perf record -o - app).\n"
    "Names come from the capture, or from binaries and debug files on this machine.\n"
    "\n"
    "  -o, --output NAME     the suffix selects the format: .pb.gz .pb .pprof pprof,\n"
    "                        .json.gz .json Firefox Profiler, .speedscope.json speedscope,\n"
    "                        .perf.txt text of `perf script`, .folded .collapsed .txt stacks;\n"
    "                        DIR/ the usual three files there; - standard output,\n"
    "                        uncompressed, with --format; repeatable\n"
    "  --format NAME         pprof, firefox, collapsed, speedscope or perf-text; for -o - only\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --embed-source        put the text of sampled source files into Firefox's file\n"
    "  --threads             begin collapsed stacks with their process and thread\n"
    "  --short-names         no template arguments and parameters in collapsed stacks\n"
    "  --annotate            mark names in collapsed stacks: _[k] kernel, _[j] JIT, _[i] inlined\n"
    "  --addrs               collapsed stacks: addresses of code without a name\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --symfs DIR           root of the recorded files, for captures of another machine\n"
    "  --debuginfod          fetch missing debug info from the servers of DEBUGINFOD_URLS\n"
    "  --no-inline           names from symbol tables only: neither inlined functions nor lines\n"
    "  --memory-limit SIZE   limit of the memory (default 480M, more for a large "
    "capture)\n" FILTER_OPTION_HELP "  -q, --quiet           print errors only\n"
    "  -v, --verbose         list the embedded source files\n";

static const char report_help[] =
    "rec report [FILE]\n"
    "\n"
    "Prints a capture (default rec.data): the 20 functions with the most self time, then the tree\n"
    "of calls with at least 2 % of the time. A recursive function counts once for each stack.\n"
    "\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --json                all functions and the call tree, for scripts\n"
    "  --short-names         names without template arguments and parameters\n"
    "  --debug-dir DIR       where separate debug files lie (default /usr/lib/debug)\n"
    "  --symfs DIR           root of the recorded files, for captures of another machine\n"
    "  --debuginfod          fetch missing debug info from the servers of DEBUGINFOD_URLS\n"
    "  --no-inline           names from symbol tables only: neither inlined functions nor lines\n"
    "  --memory-limit SIZE   limit of the memory (default 480M, more for a large "
    "capture)\n" FILTER_OPTION_HELP;

static const char info_help[] =
    "rec info [FILE]\n"
    "\n"
    "Prints a capture (default rec.data) without stacks: machine, program, counters and losses of\n"
    "the recording, processes, threads, modules with build-ids.\n"
    "\n"
    "  -i, --input FILE      the same as FILE\n"
    "  --json                the same, for scripts\n"
    "  --memory-limit SIZE   limit of the memory (default 480M, more for a large "
    "capture)\n" FILTER_OPTION_HELP;

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
    "Tests the engines and the sandbox for this machine and user, and names the setting with the\n"
    "largest effect. Records nothing and changes nothing.\n";

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

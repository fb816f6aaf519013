/* SPDX-License-Identifier: MIT */
#include "cli/tables/record_table.h"

#include "cli/tables/perf_record_options.h"
#include "cli/options/symbol_options.h"

#define NOT_YET "start the program with rec: rec -- COMMAND"

static const struct option_spec options[] = {
    OPTION_HEADING("Common options"),
    OPTION_TAKING('o', 'o', "output", "OUTPUT",
                  "Write this file; repeatable. The suffix selects the format: .data the capture, "
                  "{suffixes}. Any other name is the capture. DIR/: the usual four files there."),
    OPTION_TAKING(
        'p', 'p', "pid", "PID[,...]",
        "Record running processes instead of a command, with threads and later children, until "
        "they end, --duration, or Ctrl-C, which does not end them."),
    OPTION_TAKING('t', 't', "tid", "TID[,...]",
                  "Record single threads of running processes, likewise."),
    OPTION_TAKING('F', 'F', "freq", "N", "{parameter}; or max."),
    OPTION_SWITCH(OPTION_NO_CMDLINE, 0, "no-cmdline", "Leave the command line out of the files."),
    OPTION_SWITCH('q', 'q', "quiet", "Print errors only."),
    OPTION_SWITCH('v', 'v', "verbose", "Print costs of the recording, too."),
    OPTION_HELP_ROW,
    OPTION_SWITCH(OPTION_VERSION, 'V', "version", "Print the version."),
    OPTION_HEADING("Running processes and the system, beside -p and -t"),
    OPTION_TAKING('u', 'u', "uid", "USER", "Record all running processes of a user, likewise."),
    OPTION_SWITCH('a', 'a', "all-cpus",
                  "Record all processes of the system, until --duration, Ctrl-C, or the end of a "
                  "command, which is not recorded by itself: rec -a -- sleep 10. For root."),
    OPTION_TAKING('C', 'C', "cpu", "LIST",
                  "Record all processes on these processors: 0,2-3. For root."),
    OPTION_TAKING('G', 'G', "cgroup", "NAME",
                  "Record the processes of a cgroup, a path below the mount point. For root."),
    OPTION_HEADING("Sampling"),
    OPTION_TAKING(OPTION_ENGINE, 0, "engine", "ENGINE",
                  "{parameter}. An unavailable engine is an error."),
    OPTION_TAKING(OPTION_RECORD, 0, "record", "RECORDER[,...]",
                  "Record more than CPU time: {recorders}; see `rec list`."),
    OPTION_SWITCH(OPTION_OFF_CPU, 0, "off-cpu", "{parameter}."),
    OPTION_SWITCH(OPTION_OFF_CPU_ONLY, 0, "off-cpu-only", "{parameter}."),
    OPTION_TAKING(OPTION_OFF_CPU_INTERVAL, 0, "off-cpu-interval", "TIME",
                  "{parameter}. Implies --off-cpu."),
    OPTION_TAKING(
        OPTION_STUCK_AFTER, 0, "stuck-after", "TIME",
        "With --off-cpu: shortest wait of the threads that the summary lists as waiting at "
        "the end (default 5s)."),
    OPTION_TAKING('c', 'c', "count", "N",
                  "Take a sample every N nanoseconds of CPU time, or occurrences of the events of "
                  "-e, instead of -F."),
    OPTION_TAKING(
        'e', 'e', "event", "EVENT[,...]",
        "Record these events: page-faults, cycles, LLC-load-misses, rNNN, cpu/event=1,umask=2/, "
        "sched:sched_switch, ... with :u, :k or :uk; cpu-clock is CPU time."),
    OPTION_SWITCH(OPTION_KERNEL, 0, "kernel",
                  "Record kernel stacks above the user stacks, by a second event. For root."),
    OPTION_SWITCH(OPTION_ALL_KERNEL, 0, "all-kernel", "The same, without user time."),
    OPTION_SWITCH(OPTION_KERNEL_CALLCHAINS, 0, "kernel-callchains",
                  "The same as --kernel, without the user part of the stacks."),
    OPTION_TAKING(OPTION_CALL_GRAPH, 0, "call-graph", "MODE",
                  "Without effect, as -g: stacks are always recorded."),
    {.id = 'g', .letter = 'g', .takes = OPTION_ALONE},
    OPTION_SWITCH('i', 'i', "no-inherit", "{parameter}."),
    OPTION_TAKING(OPTION_MAX_FRAMES, 0, "max-frames", "N",
                  "Frames of a stack, 64 to 8000 (default 1024). Of a deeper stack, three quarters "
                  "from the leaf and a quarter from the root."),
    OPTION_TAKING(OPTION_MAX_MAPPINGS, 0, "max-mappings", "N",
                  "Mappings to record for each process (default 8192)."),
    OPTION_MAYBE_TAKING(OPTION_SELF_CHECK, 0, "self-check", "N",
                        "Unwind every Nth stack (default 100) a second time and compare."),
    OPTION_HEADING("Beginning and end"),
    OPTION_SWITCH(OPTION_VIEW, 0, "view",
                  "Open the capture in the browser afterwards, as rec view does."),
    OPTION_TAKING(OPTION_REPEAT, 0, "repeat", "N",
                  "Run the command N times, with a capture for each run in the new or empty "
                  "directory of -o DIR/: input for rec diff."),
    OPTION_TAKING('D', 'D', "delay", "MS", "{parameter}."),
    OPTION_TAKING(OPTION_DURATION, 0, "duration", "TIME",
                  "{parameter}: 5, 1.5s, 200ms, 2m, … The files are written; the command goes on, "
                  "and rec ends with the command."),
    OPTION_TAKING(OPTION_MAX_SIZE, 0, "max-size", "SIZE", "{parameter}: 500K, 64M, 2G, …"),
    OPTION_TAKING(OPTION_KEEP_FREE, 0, "keep-free", "SIZE",
                  "End the recording when less space is free on the disk of the capture (default "
                  "256M, at most a quarter of the free space at the start)."),
    OPTION_SWITCH(OPTION_END_COMMAND, 0, "end-command",
                  "Send SIGTERM to the command when the recording ends first."),
    OPTION_SWITCH(OPTION_WAIT_ALL, 0, "wait-all", "{parameter}."),
    OPTION_TAKING(OPTION_FAIL_ON, 0, "fail-on", "incomplete[:PERCENT]",
                  "Exit with 124 if more than PERCENT (default 5) of the CPU time has no complete "
                  "stack and the command exited with 0."),
    OPTION_HEADING("Contents of the files"),
    OPTION_MAYBE_TAKING('z', 'z', "compression-level", "N",
                        "Compress the records of the capture with zstd."),
    OPTION_SWITCH(OPTION_RAW, 0, "raw",
                  "Keep registers and bytes of the stacks in the capture, for readers that unwind, "
                  "as perf record --call-graph dwarf does. Records from outside (perf-ring)."),
    OPTION_SWITCH(OPTION_EMBED_SOURCE, 0, "embed-source",
                  "Put the text of sampled source files into rec.json.gz."),
    OPTION_SWITCH(OPTION_THREADS, 0, "threads",
                  "Begin stacks in rec.folded with their process and thread."),
    OPTION_SWITCH(OPTION_SHORT_NAMES, 0, "short-names",
                  "Leave template arguments and parameters out of rec.folded."),
    DEBUG_DIR_OPTION_SPEC,
    DEBUGINFOD_OPTION_SPEC,
    NO_INLINE_OPTION_SPEC,
    MEMORY_OPTION_SPEC,
    OPTION_HEADING(NULL), /* the rest is not listed */
    {.id = 'F', .name = "frequency", .takes = OPTION_VALUE},
    {.id = OPTION_WITHHOLD_TABLES,
     .name = "withhold-tables",
     .takes = OPTION_ALONE}, /* for tests */
    {.id = OPTION_ALL_USER, .name = "all-user", .takes = OPTION_ALONE},
    {.id = 'k', .letter = 'k', .name = "clockid", .takes = OPTION_VALUE},
    OPTION_IGNORED(0, "hide-env", OPTION_ALONE),
    OPTION_IGNORED(0, "show-env", OPTION_ALONE),
    PERF_RECORD_OPTIONS,
    {0},
};

const struct command_spec record_command = {
    .name = "record",
    .synopsis = "[record] [OPTION...] [--] COMMAND [ARGUMENT...] | -p PID[,...]",
    .summary = "run and record a command, or record running processes",
    .description =
        "Runs the command, samples CPU time, writes rec.data, rec.pb.gz, rec.json.gz, rec.folded. "
        "The first word after -- is always a command. An existing rec.data becomes rec.data.old.",
    .operand = "COMMAND",
    .options = options,
    .exit_status =
        "The status or the death signal of the command, if not 0; of several runs (--repeat) the "
        "worst. 124: --fail-on. 125: wrong "
        "usage, recording is impossible here, or a file could not be written. 126: the command "
        "cannot be run. 127: command not found.",
};
